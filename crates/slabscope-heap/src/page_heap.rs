//! Runs of free pages: found by length, merged with their neighbours when they come back.
//!
//! Short runs are kept in one list for each length, longer ones in one for each power of two.

use crate::PAGE_SIZE;
use crate::arena::Arena;
use crate::span::State;
use crate::span_list::SpanList;

/// Lengths below this, in pages, have a list each.
const EXACT: u32 = 64;

/// All lists: number 0 is empty, then the exact ones, then one for each power of two from 64 on.
const BINS: usize = 64 + 26;

/// The first growth of the arena, in pages; each is twice the one before.
const GROWTH_MIN: u32 = 128;

/// The largest growth that nobody asked for, in pages.
const GROWTH_MAX: u32 = 4096;

/// A run that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) first: u32,
    /// All its bytes read as zero.
    pub(crate) zeroed: bool,
}

/// The free runs. Its owner holds its lock.
#[derive(Debug)]
pub(crate) struct PageHeap {
    bins: [SpanList; BINS],
    /// A bit for each list that is not empty.
    some: u128,
    growth: u32,
    free_pages: u32,
}

fn bin_of(pages: u32) -> usize {
    if pages < EXACT { pages as usize } else { (EXACT + pages.ilog2() - EXACT.ilog2()) as usize }
}

impl PageHeap {
    pub(crate) const fn new() -> Self {
        PageHeap {
            bins: [const { SpanList::new() }; BINS],
            some: 0,
            growth: GROWTH_MIN,
            free_pages: 0,
        }
    }

    /// Free pages there are.
    pub(crate) fn free_pages(&self) -> u32 {
        self.free_pages
    }

    /// All lists, with their numbers.
    pub(crate) fn bins(&self) -> impl Iterator<Item = (usize, SpanList)> {
        self.bins.iter().copied().enumerate()
    }

    /// The list that a run of `pages` belongs in.
    pub(crate) fn bin_of(pages: u32) -> usize {
        bin_of(pages)
    }

    /// Takes a run of `pages` at a multiple of `align` bytes for use as `state`.
    pub(crate) fn take(
        &mut self,
        arena: &Arena,
        pages: u32,
        align: usize,
        state: State,
    ) -> Option<Run> {
        let slack = (align.saturating_sub(1) / PAGE_SIZE) as u32;
        let enough = pages.checked_add(slack)?;
        let found = match self.find(arena, enough) {
            Some(found) => found,
            None => {
                self.grow(arena, enough)?;
                self.find(arena, enough)?
            }
        };
        let len = arena.span(found).pages.get();
        let zeroed = arena.span(found).zeroed.get();
        self.remove(arena, found);
        let start = arena.address(found).addr().get();
        let skip = (start.next_multiple_of(align.max(PAGE_SIZE)) - start) / PAGE_SIZE;
        let (first, skip) = (found + skip as u32, skip as u32);
        self.insert(arena, found, skip, zeroed);
        self.insert(arena, first + pages, len - skip - pages, zeroed);
        set(arena, first, pages, state);
        Some(Run { first, zeroed: zeroed == 1 })
    }

    /// Takes a run back and merges it with free neighbours.
    pub(crate) fn give_back(&mut self, arena: &Arena, first: u32, zeroed: bool) {
        let (mut first, mut pages) = (first, arena.span(first).pages.get());
        let mut zeroed = u8::from(zeroed);
        // The run must not look like one while a neighbour's record covers it.
        arena.span(first).set_state(State::None);
        let next = first + pages;
        if next < arena.pages() && arena.span(next).state() == State::Free {
            zeroed &= arena.span(next).zeroed.get();
            pages += arena.span(next).pages.get();
            self.remove(arena, next);
        }
        let previous = arena.first_of(first - 1);
        if arena.span(previous).state() == State::Free {
            zeroed &= arena.span(previous).zeroed.get();
            pages += arena.span(previous).pages.get();
            self.remove(arena, previous);
            first = previous;
        }
        self.insert(arena, first, pages, zeroed);
    }

    /// Gives the last pages of a run in use back, so that `keep` stay.
    pub(crate) fn shrink(&mut self, arena: &Arena, first: u32, keep: u32) {
        let (pages, state) = (arena.span(first).pages.get(), arena.span(first).state());
        set(arena, first, keep, state);
        set(arena, first + keep, pages - keep, state);
        self.give_back(arena, first + keep, false);
    }

    /// Lengthens a run in use to `want` pages, if those that follow are free or the arena can grow
    /// there.
    pub(crate) fn extend(&mut self, arena: &Arena, first: u32, want: u32) -> bool {
        let (pages, state) = (arena.span(first).pages.get(), arena.span(first).state());
        let Some(missing) = want.checked_sub(pages) else { return false };
        let next = first + pages;
        let is_free = |page| page < arena.pages() && arena.span(page).state() == State::Free;
        let free = if is_free(next) { arena.span(next).pages.get() } else { 0 };
        if free < missing {
            let at_the_end = next + free == arena.bounds().0;
            if !at_the_end || self.grow(arena, missing - free).is_none() || !is_free(next) {
                return false;
            }
        }
        let (free, zeroed) = (arena.span(next).pages.get(), arena.span(next).zeroed.get());
        self.remove(arena, next);
        self.insert(arena, next + missing, free - missing, zeroed);
        set(arena, first, want, state);
        true
    }

    /// The first page of a free run of at least `pages`.
    fn find(&self, arena: &Arena, pages: u32) -> Option<u32> {
        let bin = bin_of(pages);
        // A list for a power of two holds runs that are too short as well.
        if pages >= EXACT {
            let list = self.bins.get(bin)?;
            let fits = list.iter(arena).find(|&run| arena.span(run).pages.get() >= pages);
            if fits.is_some() {
                return fits;
            }
        }
        let from = if pages >= EXACT { bin + 1 } else { bin };
        let above = self.some & (u128::MAX << from);
        self.bins.get(above.trailing_zeros() as usize)?.first()
    }

    /// Makes at least `pages` new pages usable; they become a free run, or the end of one.
    fn grow(&mut self, arena: &Arena, pages: u32) -> Option<()> {
        let chunk = self.growth.max(pages);
        let (first, pages) = match arena.grow(chunk) {
            Some(first) => (first, chunk),
            None => (arena.grow(pages)?, pages),
        };
        self.growth = (self.growth * 2).min(GROWTH_MAX);
        // As a run in use for a moment, so that it merges with what ends just below.
        set(arena, first, pages, State::Large);
        self.give_back(arena, first, true);
        Some(())
    }

    fn insert(&mut self, arena: &Arena, first: u32, pages: u32, zeroed: u8) {
        if pages == 0 {
            return;
        }
        set(arena, first, pages, State::Free);
        arena.span(first).zeroed.set(zeroed);
        let bin = bin_of(pages);
        if let Some(list) = self.bins.get_mut(bin) {
            list.push(arena, first);
            self.some |= 1 << bin;
        }
        self.free_pages += pages;
    }

    fn remove(&mut self, arena: &Arena, first: u32) {
        let span = arena.span(first);
        let bin = bin_of(span.pages.get());
        if let Some(list) = self.bins.get_mut(bin) {
            list.remove(arena, first);
            if list.is_empty() {
                self.some &= !(1 << bin);
            }
        }
        self.free_pages -= span.pages.get();
        span.set_state(State::None);
    }
}

/// Notes a run of `pages` that begins at `first`.
pub(crate) fn set(arena: &Arena, first: u32, pages: u32, state: State) {
    if pages == 0 {
        return;
    }
    let last = first + pages - 1;
    if state == State::Small {
        for page in first..=last {
            arena.set_first(page, first);
        }
    } else {
        arena.set_first(first, first);
        arena.set_first(last, first);
    }
    let span = arena.span(first);
    span.pages.set(pages);
    span.set_state(state);
}
