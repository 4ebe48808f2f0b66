//! The slots of one size class that no thread has: lists that threads gave back whole, and spans with
//! free slots, fullest first.
//!
//! A list that one thread gives back and another takes moves in one step, whoever its slots' spans
//! belong to: so objects made by one thread and freed by another cost no more than others.
//!
//! Taking from the fullest span leaves the emptiest to empty wholly, and then their pages can serve
//! another class.

use slabscope_os::fatal;

use crate::arena::Arena;
use crate::class::slots_of;
use crate::slot::{self, SlotList};
use crate::span::{Span, State};
use crate::span_list::SpanList;

/// Lists of spans: those whose used slots are a quarter at most, a half, three quarters, and more.
const BUCKETS: usize = 4;

/// Of a span without free slots: it is in no list.
const FULL: u8 = 0xff;

/// Of a span with one slot, made where no lock may be taken: it is in no list and not counted.
pub(crate) const APART: u8 = 0xfe;

/// Lists kept whole.
const LISTS: usize = 8;

/// Who wants fewer slots gets no more than these.
const WHOLE_MIN: u32 = 32;

/// Slots are scattered when their spans have room for so many times as many.
const SCATTERED: u32 = 8;

/// Lists and spans of one class that have free slots. Its owner holds its lock.
#[derive(Debug)]
pub(crate) struct Central {
    /// Empty ones come last.
    lists: [SlotList; LISTS],
    buckets: [SpanList; BUCKETS],
    /// Slots of all its spans, but for those that no span was ever added for; see [`APART`].
    slots: u32,
    /// Of these, those that no span has: the program's, and those kept in lists by whomever.
    used: u32,
}

impl Central {
    pub(crate) const fn new() -> Self {
        Central {
            lists: [const { SlotList::new() }; LISTS],
            buckets: [const { SpanList::new() }; BUCKETS],
            slots: 0,
            used: 0,
        }
    }

    /// A list of about `want` slots, empty if there are none at all.
    pub(crate) fn take_list(&mut self, arena: &Arena, want: u32) -> SlotList {
        if let Some(list) = self.lists.iter_mut().rev().find(|list| !list.is_empty()) {
            return list.split_off(want);
        }
        let mut list = SlotList::new();
        self.take(arena, want, &mut list);
        self.used += list.len();
        list
    }

    /// Whether most slots that no span has are kept free, with `kept` more of them by the caller, and lie in
    /// spans that have little else.
    pub(crate) fn is_scattered(&self, kept: u32) -> bool {
        let kept = self.lists.iter().map(SlotList::len).sum::<u32>() + kept;
        kept >= self.used / 2 && self.slots / SCATTERED >= self.used
    }

    /// Keeps a list whole, or joins it to one so that both stay within `most`; returns it if there is no
    /// place for it.
    pub(crate) fn keep_list(&mut self, list: SlotList, most: u32) -> SlotList {
        let short = |kept: &&mut SlotList| kept.is_empty() || kept.len() + list.len() <= most;
        let Some(place) = self.lists.iter_mut().find(short) else { return list };
        if place.is_empty() {
            *place = list;
        } else {
            place.prepend(list);
        }
        SlotList::new()
    }

    /// Takes a list out, the one kept longest; empty if there is none.
    pub(crate) fn take_out_list(&mut self) -> SlotList {
        self.lists.rotate_left(1);
        self.lists.last_mut().map_or(SlotList::new(), SlotList::take_all)
    }

    /// All slots of the lists.
    pub(crate) fn slots(&self) -> impl Iterator<Item = *mut u8> {
        self.lists.iter().flat_map(SlotList::iter)
    }

    /// All spans in it, with the list each is in.
    pub(crate) fn spans(&self, arena: &Arena) -> impl Iterator<Item = (usize, u32)> {
        let lists = self.buckets.into_iter().enumerate();
        lists.flat_map(|(bucket, list)| list.iter(arena).map(move |page| (bucket, page)))
    }

    /// Moves about `want` slots of spans to `to`, which is empty.
    ///
    /// What one span has free goes as it is, more or less than wanted: to walk along it would fetch all its
    /// slots from memory, each waiting for the one before.
    fn take(&mut self, arena: &Arena, want: u32, to: &mut SlotList) {
        while to.len() < want / 2 + 1 {
            let Some(page) = self.buckets.iter().rev().find_map(|list| list.first()) else {
                return;
            };
            if to.is_empty() && want >= WHOLE_MIN {
                *to = take_whole(arena.span(page));
            }
            take_from(arena, page, want.saturating_sub(to.len()), to);
            self.sort_in(arena, page);
        }
    }

    /// Takes in a span whose record says how many slots it has and that none is used.
    pub(crate) fn add(&mut self, arena: &Arena, page: u32) {
        arena.span(page).bucket.set(FULL);
        self.slots += arena.span(page).slots.get();
        self.sort_in(arena, page);
    }

    /// Takes back slots of the span that begins at `page`. If they were the last ones in use, the span
    /// leaves and is the caller's: the result says so.
    ///
    /// # Safety
    /// The slots are the span's, free, and nobody else's.
    #[inline]
    pub(crate) unsafe fn give_back(&mut self, arena: &Arena, page: u32, slots: slot::Run) -> bool {
        let span = arena.span(page);
        // SAFETY: passed on to the caller.
        unsafe { slot::link(slots.last, span.free.get()) };
        span.free.set(slots.first);
        let Some(used) = span.used.get().checked_sub(slots.len) else {
            fatal(&["an object was freed that was freed before: its span has none in use"])
        };
        span.used.set(used);
        let is_counted = span.bucket.get() != APART;
        if is_counted {
            self.used -= slots.len;
        }
        used < span.used_min.get() && self.has_fewer(arena, page)
    }

    /// So many of a span's slots were given back that its place changes; `true` if it leaves.
    #[inline(never)]
    fn has_fewer(&mut self, arena: &Arena, page: u32) -> bool {
        let span = arena.span(page);
        if span.used.get() == 0 {
            if span.bucket.get() != APART {
                self.slots -= span.slots.get();
            }
            self.take_out(arena, page);
            return true;
        }
        self.sort_in(arena, page);
        false
    }

    /// Puts the span in the list it belongs in.
    fn sort_in(&mut self, arena: &Arena, page: u32) {
        let span = arena.span(page);
        let bucket = bucket_of(span);
        if bucket == span.bucket.get() {
            return;
        }
        self.take_out(arena, page);
        span.bucket.set(bucket);
        span.used_min.set(used_min(span, bucket));
        if let Some(list) = self.buckets.get_mut(usize::from(bucket)) {
            list.push(arena, page);
        }
    }

    fn take_out(&mut self, arena: &Arena, page: u32) {
        let bucket = usize::from(arena.span(page).bucket.get());
        if let Some(list) = self.buckets.get_mut(bucket) {
            list.remove(arena, page);
        }
        arena.span(page).bucket.set(FULL);
    }
}

/// The list a span belongs in.
pub(crate) fn bucket_of(span: &Span) -> u8 {
    let (used, slots) = (span.used.get(), span.slots.get());
    if used >= slots { FULL } else { (used as usize * BUCKETS / slots as usize) as u8 }
}

/// The fewest used slots that a span in the list `bucket` has, none left out: with none it leaves.
fn used_min(span: &Span, bucket: u8) -> u32 {
    let slots = span.slots.get();
    if bucket == FULL { slots } else { (u32::from(bucket) * slots).div_ceil(BUCKETS as u32).max(1) }
}

/// Makes the record that of a span with slots, all free and untouched.
pub(crate) fn prepare(span: &Span, class: slabscope_wire::size_class::SizeClass, slots: u32) {
    debug_assert!(slots <= slots_of(class));
    span.class.set(class.index() as u8);
    span.slots.set(slots);
    span.used.set(0);
    span.carved.set(0);
    span.free.set(core::ptr::null_mut());
    span.bucket.set(FULL);
    span.used_min.set(slots);
}

/// All slots that came back to a span.
fn take_whole(span: &Span) -> SlotList {
    let len = span.carved.get() - span.used.get();
    let head = span.free.get();
    span.free.set(core::ptr::null_mut());
    span.used.set(span.carved.get());
    // SAFETY: so many are linked in the span's list, as its record says, and they leave it.
    unsafe { SlotList::from_parts(head, len) }
}

/// Moves up to `want` slots of one span to `to`: first those that came back, then untouched ones,
/// which leave `to` with rising addresses.
fn take_from(arena: &Arena, page: u32, want: u32, to: &mut SlotList) {
    let span = arena.span(page);
    debug_assert_eq!(span.state(), State::Small);
    let mut taken = 0;
    while taken < want && !span.free.get().is_null() {
        let slot = span.free.get();
        // SAFETY: the slot is in the span's list of free ones, and leaves it.
        unsafe {
            span.free.set(slot::next(slot));
            to.push(slot);
        }
        taken += 1;
    }
    let carved = span.carved.get();
    let fresh = (want - taken).min(span.slots.get() - carved);
    let size = span.class().slot_size();
    let start = arena.address(page);
    for index in (carved..carved + fresh).rev() {
        // SAFETY: the span has `slots` slots of this size from its start; this one was never given
        // out.
        unsafe { to.push(start.add(index as usize * size).as_ptr()) };
    }
    span.carved.set(carved + fresh);
    span.used.set(span.used.get() + taken + fresh);
}
