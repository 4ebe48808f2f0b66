//! Slots on their way between thread caches and central lists, and the spans they come from.

use core::ptr::null_mut;

use slabscope_os::fatal;
use slabscope_os::lock::Lock;
use slabscope_wire::size_class::SizeClass;

use crate::PAGE_SIZE;
use crate::arena::Arena;
use crate::central::{self, Central};
use crate::class::{pages_of_span, slot_at, slots_of};
use crate::heap::Heap;
use crate::observer::Observer;
use crate::slot::{self, SlotList};
use crate::span::State;
use crate::span_list::SpanList;
use crate::thread_cache::{ThreadCache, batch_of};

impl Heap {
    /// A slot of `class` when the cache's first list has none, and more for the cache; null without
    /// memory.
    #[cold]
    #[inline(never)]
    pub(crate) fn refill(
        &self,
        cache: &mut ThreadCache,
        class: SizeClass,
        observer: &mut impl Observer,
    ) -> *mut u8 {
        if cache.take_spare(class) {
            return cache.front().take(class);
        }
        let Some(arena) = self.arena() else { return null_mut() };
        self.free_deferred(arena, observer);
        let batch = cache.next_batch(class);
        let mut list = self.central(class).lock().take_list(arena, batch);
        if list.is_empty() {
            list = self.take_of_new_span(arena, class, batch, observer);
        }
        if list.is_empty() {
            return null_mut();
        }
        cache.fill(class, list);
        cache.front().take(class)
    }

    /// Up to `batch` slots of a span made for them, none without memory. If others have brought slots
    /// meanwhile it is theirs, and the span goes back: with no slot used it would never empty, and so stay.
    fn take_of_new_span(
        &self,
        arena: &Arena,
        class: SizeClass,
        batch: u32,
        observer: &mut impl Observer,
    ) -> SlotList {
        let Some(page) = self.new_span(arena, class, observer) else { return SlotList::new() };
        let mut central = self.central(class).lock();
        let mut list = central.take_list(arena, batch);
        let is_needed = list.is_empty();
        if is_needed {
            central.add(arena, page);
            list = central.take_list(arena, batch);
        }
        drop(central);
        if !is_needed {
            self.free_span(arena, page, observer);
        }
        list
    }

    /// Keeps a slot that the cache's first list has no room for.
    ///
    /// # Safety
    /// The slot is a slot of `class` that the caller gives up.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn overflow(
        &self,
        cache: &mut ThreadCache,
        class: SizeClass,
        slot: *mut u8,
        observer: &mut impl Observer,
    ) {
        let full = cache.make_room(class);
        // SAFETY: passed on to the caller.
        let _kept = unsafe { cache.front().put(class, slot) };
        debug_assert!(_kept, "there was room for it");
        if self.give_back(class, full, observer) {
            self.give_up_class(cache, class, observer);
        }
        self.give_up_at_ebb(cache, observer);
    }

    /// Gives all slots of a cache back, for its thread's end.
    pub fn flush(&self, cache: &mut ThreadCache, observer: &mut impl Observer) {
        let Some(arena) = self.arena() else { return };
        for class in SizeClass::all() {
            let (first, second) = (cache.take_first(class), cache.take_second(class));
            self.give_back(class, second, observer);
            self.give_back(class, first, observer);
        }
        while let Some(object) = cache.front().large.take_any() {
            let page = arena.page_of(object.addr()).unwrap_or(0);
            self.free_large_span(arena, page, observer);
        }
        self.free_deferred(arena, observer);
    }

    /// Gives all slots that are kept in lists back to their spans, spans that empty to the page heap,
    /// and the memory of all free pages to the kernel.
    pub fn trim(&self, observer: &mut impl Observer) {
        let Some(arena) = self.arena() else { return };
        self.flush_lists(arena, observer);
        self.discard_free(arena, 0);
    }

    /// Gives all slots that are kept in lists back to their spans.
    pub(crate) fn flush_lists(&self, arena: &Arena, observer: &mut impl Observer) {
        for class in SizeClass::all() {
            self.flush_lists_of(arena, class, observer);
        }
    }

    /// As [`Heap::flush_lists`], of one class.
    fn flush_lists_of(&self, arena: &Arena, class: SizeClass, observer: &mut impl Observer) {
        loop {
            let list = self.central(class).lock().take_out_list();
            if list.is_empty() {
                break;
            }
            self.give_back_to_spans(arena, class, list, observer);
        }
    }

    /// Gives the slots of one class back to their spans that the cache and the central list keep.
    #[cold]
    #[inline(never)]
    fn give_up_class(
        &self,
        cache: &mut ThreadCache,
        class: SizeClass,
        observer: &mut impl Observer,
    ) {
        let Some(arena) = self.arena() else { return };
        for list in [cache.take_second(class), cache.take_first(class)] {
            self.give_back_to_spans(arena, class, list, observer);
        }
        self.flush_lists_of(arena, class, observer);
    }

    /// Gives a list back to the central list; `true` if it and others that are kept had better go back to their
    /// spans.
    fn give_back(&self, class: SizeClass, list: SlotList, observer: &mut impl Observer) -> bool {
        if list.is_empty() {
            return false;
        }
        let Some(arena) = self.arena() else { return false };
        // One of each list is looked at, the others when they go back to their spans.
        if let Some(slot) = list.iter().next() {
            span_of(arena, slot, class);
        }
        let mut central = self.central(class).lock();
        let rest = central.keep_list(list, batch_of(class));
        let is_scattered = central.is_scattered(batch_of(class) + rest.len());
        if rest.is_empty() {
            return is_scattered;
        }
        // What is given back last is the first to be used again: the oldest makes room for it.
        let oldest = central.take_out_list();
        let rest = central.keep_list(rest, batch_of(class));
        drop(central);
        self.give_back_to_spans(arena, class, oldest, observer);
        self.give_back_to_spans(arena, class, rest, observer);
        is_scattered
    }

    /// Gives slots back to their spans, and spans that empty to the page heap.
    fn give_back_to_spans(
        &self,
        arena: &Arena,
        class: SizeClass,
        mut slots: SlotList,
        observer: &mut impl Observer,
    ) {
        if slots.is_empty() {
            return;
        }
        // Spans that empty, linked through their records.
        let mut emptied = SpanList::new();
        let mut central = self.central(class).lock();
        while let Some(slot) = slots.first() {
            let page = span_of(arena, slot, class);
            // What lies together is often freed together. What lies in the page and is no slot of the span
            // is left for the next round, which does not get past the line above.
            let belongs = |other: *mut u8| {
                (slot.addr() ^ other.addr()) < PAGE_SIZE && is_slot_of(arena, page, other, class)
            };
            let Some(run) = slots.take_run(belongs) else { break };
            // SAFETY: the slots were in the list, so they are free and nobody else's; they lie in this
            // span.
            if unsafe { central.give_back(arena, page, run) } {
                emptied.push(arena, page);
            }
        }
        drop(central);
        while let Some(page) = emptied.first() {
            emptied.remove(arena, page);
            self.free_span(arena, page, observer);
        }
    }

    /// Gives one slot back, past all caches.
    ///
    /// # Safety
    /// The slot is one of the span that begins at `page`, and the caller gives it up.
    pub(crate) unsafe fn free_uncached(
        &self,
        arena: &Arena,
        page: u32,
        slot: *mut u8,
        observer: &mut impl Observer,
    ) {
        let class = arena.span(page).class();
        let slot = slot::Run { first: slot, last: slot, len: 1 };
        // SAFETY: passed on to the caller.
        let emptied = unsafe { self.central(class).lock().give_back(arena, page, slot) };
        if emptied {
            self.free_span(arena, page, observer);
        }
    }

    /// A span of `class`, which nobody else knows yet.
    fn new_span(
        &self,
        arena: &Arena,
        class: SizeClass,
        observer: &mut impl Observer,
    ) -> Option<u32> {
        let pages = pages_of_span(class);
        let run = self.page_heap().lock().take(arena, pages, PAGE_SIZE, State::Small)?;
        let span = arena.span(run.first);
        central::prepare(span, class, slots_of(class));
        if let Some(info) = span.info(run.first) {
            observer.span_alloc(info);
        }
        Some(run.first)
    }

    /// Gives back a span that nobody else knows any more.
    pub(crate) fn free_span(&self, arena: &Arena, page: u32, observer: &mut impl Observer) {
        if let Some(info) = arena.span(page).info(page) {
            observer.span_free(info);
        }
        self.free_run(arena, page, false);
    }

    pub(crate) fn central(&self, class: SizeClass) -> &Lock<Central> {
        match self.centrals().get(class.index()) {
            Some(central) => central,
            // A class's number is below COUNT.
            None => fatal(&["a size class beyond the table"]),
        }
    }
}

/// The first page of the span that `slot` lies in. Ends the program if that is no slot of `class`:
/// the object was freed with a size or alignment that is not its own, or was none of ours.
#[inline]
pub(crate) fn span_of(arena: &Arena, slot: *mut u8, class: SizeClass) -> u32 {
    let page = arena.page_of(slot.addr()).map_or(0, |page| arena.first_of(page));
    if !(arena.span(page).is_small_of(class) && is_slot_of(arena, page, slot, class)) {
        fatal(&[
            "an object was freed that is not one of this heap, was freed before, ",
            "or has another size or alignment than it was allocated with",
        ]);
    }
    page
}

/// Whether one of the slots that were given out of the span at `page` begins at `slot`.
#[inline(always)]
fn is_slot_of(arena: &Arena, page: u32, slot: *mut u8, class: SizeClass) -> bool {
    let offset = slot.addr().wrapping_sub(arena.base() + page as usize * PAGE_SIZE);
    slot_at(offset, class).is_some_and(|index| index < arena.span(page).carved.get())
}
