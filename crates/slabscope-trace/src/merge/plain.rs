//! Plain events: small, and decoded many at a time.

mod short;

use std::ops::ControlFlow;

use slabscope_wire::event::id;

use crate::alloc_free::AllocFree;
use crate::catalog::Catalog;
use crate::cursor::RawEvent;
use crate::experiment::ExperimentalEvent;
use crate::id::Time;
use crate::run::{Place, Placed, Placer, Visitor};

pub(super) use short::decode_short;

/// An experimental event that names no string and no stack, and whose numbers are not too large for
/// this: it has nothing to be checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plain {
    pub(crate) time: Time,
    args: [u64; 2],
    third: u32,
    /// The thread, by its place in the generation.
    pub(crate) lane: u16,
    id: u8,
    /// Of an object whose place was found: the class, and `third` is the slot. Otherwise 0.
    class: u8,
}

/// Two in a cache line.
const _: () = assert!(size_of::<Plain>() == 32);

impl Plain {
    /// Stands where there is no event.
    pub(super) const NOTHING: Plain =
        Plain { time: Time(0), args: [0; 2], third: 0, lane: 0, id: CHECKED, class: 0 };

    /// The event, if it is a plain one.
    pub(super) fn new(raw: &RawEvent, lane: u16, catalog: &Catalog) -> Option<Plain> {
        let [first, second, third, fourth] = raw.args;
        if !catalog.is_plain(raw.id) || fourth != 0 {
            return None;
        }
        let third = u32::try_from(third).ok()?;
        Some(Plain { time: raw.time, args: [first, second], third, lane, id: raw.id, class: 0 })
    }

    /// Stands for an event that is not plain, but never waits for others either: once the reader
    /// has checked it, the next one comes.
    pub(super) fn for_checked(raw: &RawEvent, lane: u16) -> Option<Plain> {
        let never_waits = matches!(
            raw.id,
            id::PROC_STATUS
                | id::GO_STATUS
                | id::GO_STATUS_STACK
                | id::PROCS_CHANGE
                | id::HEAP_ALLOC
                | id::HEAP_GOAL
                | id::GO_LABEL
                | id::USER_TASK_BEGIN
                | id::USER_TASK_END
                | id::USER_REGION_BEGIN
                | id::USER_REGION_END
                | id::USER_LOG
        );
        never_waits.then_some(Plain { time: raw.time, lane, ..Plain::NOTHING })
    }

    /// Whether it stands for another event.
    #[inline]
    pub(crate) fn is_checked(&self) -> bool {
        self.id == CHECKED
    }

    /// The event as the reader hands it out; `None` for what is in no table.
    #[inline]
    pub(crate) fn event(&self, catalog: &'static Catalog) -> Option<ExperimentalEvent> {
        let [first, second] = self.args;
        let third = if self.is_placed() { 0 } else { self.third };
        let args = [first, second, u64::from(third), 0];
        Some(ExperimentalEvent::known(catalog.row(self.id)?, args))
    }
}

impl Plain {
    /// Asks for the place of an object that is allocated or freed, and tells of all else.
    #[inline]
    pub(crate) fn find_place(&mut self, placer: &mut impl Placer) {
        let [first, second] = self.args;
        if matches!(self.id, id::HEAP_OBJECT_ALLOC | id::HEAP_OBJECT_FREE) {
            if let Some(Place { slot, class }) = placer.place(first) {
                (self.third, self.class) = (slot, class.get());
            }
        } else if let Some(what) = AllocFree::new(self.id, [first, second, u64::from(self.third)]) {
            placer.other(what);
        }
    }

    /// Whether it is about an object whose place was found.
    #[inline]
    pub(crate) fn is_placed(&self) -> bool {
        self.class != 0
    }

    /// The event with its place, as of this time. It must be placed.
    #[inline]
    pub(crate) fn placed(&self, time: Time) -> Placed {
        let ([id, ty], is_alloc) = (self.args, self.id == id::HEAP_OBJECT_ALLOC);
        Placed { time, id, ty, slot: self.third, class: self.class, is_alloc }
    }

    /// The slot of a placed one.
    #[inline]
    pub(crate) fn slot(&self) -> u32 {
        self.third
    }

    /// Shows the event to `visitor`, as of this time.
    #[inline]
    pub(crate) fn show<V: Visitor>(&self, time: Time, visitor: &mut V) -> ControlFlow<V::Break> {
        let [first, second] = self.args;
        match self.id {
            id::HEAP_OBJECT_ALLOC => visitor.alloc(time, first, second),
            id::HEAP_OBJECT_FREE => visitor.free(time, first),
            _ => {
                let args = [first, second, u64::from(self.third)];
                visitor.other(time, AllocFree::new(self.id, args))
            }
        }
    }
}

/// The number of no event.
const CHECKED: u8 = 0;
