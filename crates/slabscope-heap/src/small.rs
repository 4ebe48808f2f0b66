//! Slots on their way between thread caches and central lists, and the spans they come from.

use slabscope_os::fatal;
use slabscope_os::lock::Lock;
use slabscope_wire::size_class::SizeClass;

use crate::PAGE_SIZE;
use crate::arena::Arena;
use crate::central::{self, Central};
use crate::class::slots_of;
use crate::heap::Heap;
use crate::observer::Observer;
use crate::slot::SlotList;
use crate::span::State;
use crate::thread_cache::ThreadCache;

impl Heap {
    /// A slot of `class` when the cache has none, and more for the cache; null without memory.
    #[cold]
    #[inline(never)]
    pub(crate) fn refill(
        &self,
        cache: &mut ThreadCache,
        class: SizeClass,
        observer: &mut impl Observer,
    ) -> *mut u8 {
        let Some(arena) = self.arena() else { return core::ptr::null_mut() };
        self.free_deferred(arena, observer);
        let bin = cache.bin(class);
        let want = bin.want(class);
        loop {
            self.central(class).lock().take(arena, want, &mut bin.slots);
            if let Some(slot) = bin.slots.pop() {
                return slot;
            }
            let Some(page) = self.new_span(arena, class, observer) else {
                return core::ptr::null_mut();
            };
            self.central(class).lock().add(arena, page);
        }
    }

    /// Keeps a slot that the cache has no room for, or makes room.
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
        let bin = cache.bin(class);
        // SAFETY: passed on to the caller.
        unsafe { bin.slots.push(slot) };
        let excess = bin.excess(class);
        self.give_back(class, &mut bin.slots, excess, observer);
    }

    /// Gives all slots of a cache back, for its thread's end.
    pub fn flush(&self, cache: &mut ThreadCache, observer: &mut impl Observer) {
        for class in SizeClass::all() {
            let slots = &mut cache.bin(class).slots;
            let all = slots.len();
            self.give_back(class, slots, all, observer);
        }
        if let Some(arena) = self.arena() {
            self.free_deferred(arena, observer);
        }
    }

    /// Gives `count` of `slots` back to the central list, and spans that empty to the page heap.
    fn give_back(
        &self,
        class: SizeClass,
        slots: &mut SlotList,
        count: u32,
        observer: &mut impl Observer,
    ) {
        let Some(arena) = self.arena() else { return };
        if count == 0 {
            return;
        }
        // Spans that empty, linked through their records.
        let mut emptied = crate::span_list::SpanList::new();
        let mut central = self.central(class).lock();
        for _ in 0..count {
            let Some(slot) = slots.pop() else { break };
            let page = span_of(arena, slot, class);
            // SAFETY: the slot was in the list, so it is free and nobody else's; it lies in this
            // span.
            if unsafe { central.give_back(arena, page, slot) } {
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
        let pages = class.span_pages() as u32;
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
        self.page_heap().lock().give_back(arena, page, false);
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
pub(crate) fn span_of(arena: &Arena, slot: *mut u8, class: SizeClass) -> u32 {
    let page = arena.page_of(slot.addr()).map_or(0, |page| arena.first_of(page));
    let span = arena.span(page);
    let offset = slot.addr().wrapping_sub(arena.address(page).addr().get());
    let fits = span.state() == State::Small
        && span.class() == class
        && offset.is_multiple_of(class.slot_size().max(1))
        && offset / class.slot_size().max(1) < span.carved.get() as usize;
    if !fits {
        fatal(&[
            "an object was freed that is not one of this heap, was freed before, ",
            "or has another size or alignment than it was allocated with",
        ]);
    }
    page
}
