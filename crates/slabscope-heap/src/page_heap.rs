//! Runs of free pages: found by length, merged with their neighbours when they come back.
//!
//! Short runs are kept in one list for each length, longer ones in one for each power of two.

use slabscope_os::{advise, clock};

use crate::PAGE_SIZE;
use crate::arena::Arena;
use crate::dirty_limit::DirtyLimit;
use crate::ebb::HighWater;
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

/// The fewest pages of a run that are worth a call to the kernel.
const DISCARD_MIN: u32 = pages(64 << 10);

/// How many runs of each list are looked at for dirty ones.
const LOOKS: usize = 16;

/// Pages of a large kernel page.
const LARGE_KERNEL_PAGE: u32 = pages(2 << 20);

/// The arena's first pages have small kernel pages, as a small program should be small.
const LARGE_FROM: u32 = pages(2 << 20);

/// Growth for objects longer than this has small kernel pages, since they may be used sparsely.
const LARGE_REQUEST_MAX: u32 = pages(128 << 20);

/// Pages that get memory together, while kernel pages are small.
const POPULATE: u32 = pages(128 << 10);

/// Pages after which addresses have the same place in a cache of the second level, as far as is known.
const STRIDE: u32 = pages(64 << 10);

const fn pages(bytes: usize) -> u32 {
    (bytes / PAGE_SIZE) as u32
}

/// Pages taken out to be given back to the kernel: the run that begins at `first`, of which the first
/// `pages` are dirty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dirty {
    pub(crate) first: u32,
    pub(crate) pages: u32,
}

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
    /// Of these, those that may not read as zero.
    dirty_pages: u32,
    dirty_limit: DirtyLimit,
    /// Pages below this have memory, or had it.
    populated: u32,
    high_water: HighWater,
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
            dirty_pages: 0,
            dirty_limit: DirtyLimit::new(),
            populated: 0,
            high_water: HighWater::new(),
        }
    }

    /// Free pages there are.
    pub(crate) fn free_pages(&self) -> u32 {
        self.free_pages
    }

    /// Of these, those that keep memory.
    pub(crate) fn dirty_pages(&self) -> u32 {
        self.dirty_pages
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
        let dirty = arena.span(found).dirty.get();
        self.remove(arena, found);
        let start = arena.address(found).addr().get();
        let skip = (start.next_multiple_of(align.max(PAGE_SIZE)) - start) / PAGE_SIZE;
        let wants_gap = state == State::Large && align <= PAGE_SIZE && len > pages;
        let skip = if wants_gap { gap(arena, found, pages) } else { skip as u32 };
        let first = found + skip;
        let behind = skip + pages;
        self.insert(arena, found, skip, dirty.min(skip));
        self.insert(arena, first + pages, len - behind, dirty.saturating_sub(behind));
        set(arena, first, pages, state);
        let with_memory = dirty.saturating_sub(skip).min(pages);
        self.dirty_limit.count_taken(pages - with_memory, self.dirty_pages);
        if state == State::Small {
            self.populate(arena, first + pages);
        }
        self.high_water.rise(self.used_pages(arena));
        Some(Run { first, zeroed: dirty <= skip })
    }

    /// Whether there are enough free pages for `pages`, and no run of so many.
    pub(crate) fn is_scattered(&self, arena: &Arena, pages: u32) -> bool {
        self.free_pages >= pages && self.find(arena, pages).is_none()
    }

    /// Takes a run back and merges it with free neighbours.
    pub(crate) fn give_back(&mut self, arena: &Arena, first: u32, zeroed: bool) {
        let (mut first, mut pages) = (first, arena.span(first).pages.get());
        let mut dirty = if zeroed { 0 } else { pages };
        // The run must not look like one while a neighbour's record covers it.
        arena.span(first).set_state(State::None);
        let next = first + pages;
        if next < arena.pages() && arena.span(next).state() == State::Free {
            let more = arena.span(next).dirty.get();
            dirty = if more > 0 { pages + more } else { dirty };
            pages += arena.span(next).pages.get();
            self.remove(arena, next);
        }
        let previous = arena.first_of(first - 1);
        if arena.span(previous).state() == State::Free {
            let before = arena.span(previous);
            dirty = if dirty > 0 { before.pages.get() + dirty } else { before.dirty.get() };
            pages += before.pages.get();
            self.remove(arena, previous);
            first = previous;
        }
        self.insert(arena, first, pages, dirty);
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
        let (free, dirty) = (arena.span(next).pages.get(), arena.span(next).dirty.get());
        self.remove(arena, next);
        let behind = next + missing;
        self.insert(arena, behind, free - missing, dirty.saturating_sub(missing));
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
        let end = (arena.bounds().0 + chunk).next_multiple_of(LARGE_KERNEL_PAGE);
        let chunk = end.saturating_sub(arena.bounds().0).max(chunk);
        let (first, pages) = match arena.grow(chunk) {
            Some(first) => (first, chunk),
            None => (arena.grow(pages)?, pages),
        };
        if first >= LARGE_FROM && pages <= LARGE_REQUEST_MAX {
            // SAFETY: the pages were just made usable, and are ours.
            unsafe { advise::large_pages(arena.address(first), pages as usize * PAGE_SIZE) };
        }
        self.growth = (self.growth * 2).min(GROWTH_MAX);
        // As a run in use for a moment, so that it merges with what ends just below.
        set(arena, first, pages, State::Large);
        self.give_back(arena, first, true);
        Some(())
    }

    /// Gives memory to the pages below `end`, and some more, unless large kernel pages do it better.
    fn populate(&mut self, arena: &Arena, end: u32) {
        if end <= self.populated || end > LARGE_FROM {
            return;
        }
        let start = self.populated.max(1);
        let (bottom, _) = arena.bounds();
        let end = end.next_multiple_of(POPULATE).min(bottom);
        // What lies between may be in use; having memory changes nothing for it.
        let len = (end - start) as usize * PAGE_SIZE;
        // SAFETY: the pages are usable, by the bounds.
        unsafe { advise::populate(arena.address(start), len) };
        self.populated = end;
    }

    /// Takes pages that may be dirty out of the largest runs, if there are more than `keep` in all,
    /// to be given back as zeroed when the kernel has had them. `None` when there are few, or only
    /// in runs too short to be worth it.
    ///
    /// Whole large kernel pages go back whole: broken ones would come back as small ones, with a fault
    /// for each. Only a run that is thinner than one gives up what it has, and only if `thin`.
    pub(crate) fn take_dirty(&mut self, arena: &Arena, keep: u32, thin: bool) -> Option<Dirty> {
        let excess = self.dirty_pages.checked_sub(keep).filter(|&pages| pages > 0)?;
        let enough = if thin { DISCARD_MIN } else { LARGE_KERNEL_PAGE };
        let found = self.bins.iter().skip(bin_of(enough)).rev().find_map(|list| {
            list.iter(arena).take(LOOKS).find(|&run| match thin {
                true => arena.span(run).dirty.get() >= DISCARD_MIN,
                false => whole_from(run, arena.span(run).dirty.get(), 1).is_some(),
            })
        })?;
        let (len, dirty) = (arena.span(found).pages.get(), arena.span(found).dirty.get());
        self.remove(arena, found);
        // From the end: what is taken is taken from the beginning.
        let first = whole_from(found, dirty, excess)
            .unwrap_or(found + dirty - excess.max(DISCARD_MIN).min(dirty));
        let kept = first - found;
        self.insert(arena, found, kept, kept);
        set(arena, first, len - kept, State::Large);
        Some(Dirty { first, pages: dirty - kept })
    }

    /// Whether half of what was in use is not any more; see [`HighWater::is_ebb`].
    pub(crate) fn is_ebb(&mut self, arena: &Arena) -> bool {
        let is_ebb = self.high_water.is_ebb(self.used_pages(arena));
        if is_ebb {
            self.dirty_limit.try_again();
        }
        is_ebb
    }

    /// Pages that are not free.
    pub(crate) fn used_pages(&self, arena: &Arena) -> u32 {
        let (bottom, top) = arena.bounds();
        (bottom + (arena.pages() - top)).saturating_sub(self.free_pages)
    }

    /// Whether there are so many dirty pages that some should go back.
    pub(crate) fn is_too_dirty(&mut self) -> bool {
        self.dirty_limit.is_passed(self.dirty_pages, clock::monotonic_ns)
    }

    /// Notes that `pages` went back to the kernel.
    pub(crate) fn count_gone(&mut self, pages: u32) {
        self.dirty_limit.count_gone(pages);
    }

    /// Notes that as many went back as could.
    pub(crate) fn set_dirty_left(&mut self) {
        self.dirty_limit.set_left(self.dirty_pages);
    }

    fn insert(&mut self, arena: &Arena, first: u32, pages: u32, dirty: u32) {
        if pages == 0 {
            return;
        }
        set(arena, first, pages, State::Free);
        arena.span(first).dirty.set(dirty);
        self.dirty_pages += dirty;
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
        self.dirty_pages -= span.dirty.get();
        span.set_state(State::None);
    }
}

/// How many pages are left out before an object of `pages` pages that would follow another at `found`.
///
/// Objects whose lengths are multiples of [`STRIDE`] and that follow each other would have the same places of
/// each in the same few lines of a cache, which has room for a dozen of them.
fn gap(arena: &Arena, found: u32, pages: u32) -> u32 {
    let before = arena.span(arena.first_of(found - 1));
    let is_large = before.state() == State::Large;
    let is_even = |pages: u32| pages.is_multiple_of(STRIDE);
    u32::from(is_large && is_even(before.pages.get()) && is_even(pages))
}

/// Where whole large kernel pages begin whose end is that of the `dirty` first pages of the run at
/// `first`: `want` pages of them, or all there are.
fn whole_from(first: u32, dirty: u32, want: u32) -> Option<u32> {
    let end = (first + dirty) / LARGE_KERNEL_PAGE * LARGE_KERNEL_PAGE;
    let start = first.next_multiple_of(LARGE_KERNEL_PAGE);
    let wanted = end.saturating_sub(want.next_multiple_of(LARGE_KERNEL_PAGE));
    (start < end).then_some(start.max(wanted))
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
