//! Rows: events of objects that follow each other on one thread, and whose slots are found by their
//! page alone. Nearly all events are in one.

use slabscope_trace::Time;

use super::Now;
use super::kinds::{ALLOC, FREE};
use crate::heap::{Heap, In, Listener, Slot};
use crate::sites::Numbered;

/// How many events a row has at most: few enough for the processor's first cache.
pub(crate) const ROW_MAX: usize = 256;

/// An allocation or a free in a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowEvent {
    pub(crate) time: Time,
    /// What the event names.
    pub(crate) id: u64,
    /// The slot it lies in.
    pub(crate) slot: Slot,
    /// What is allocated; unknown in a free.
    pub(crate) site: Numbered,
    pub(crate) is_alloc: bool,
}

impl RowEvent {
    /// Makes it the current event.
    #[inline]
    pub(crate) fn put(&self, now: &mut Now) {
        (now.time, now.id, now.site) = (self.time, self.id, self.site);
        now.kind = if self.is_alloc { ALLOC } else { FREE };
    }

    /// Replays it.
    #[inline]
    pub(crate) fn apply<L: Listener>(&self, heap: &mut Heap<L::Tag>, to: &mut L) {
        match self.is_alloc {
            true => heap.object_in(self.id, In::Allocated, to),
            false => heap.object_out(self.id, to),
        }
    }
}

const _: () = assert!(size_of::<RowEvent>() <= 40);
