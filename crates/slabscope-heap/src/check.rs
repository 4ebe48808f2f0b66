//! Looking the whole heap over: do its parts agree?

use slabscope_wire::size_class::SizeClass;

use crate::arena::Arena;
use crate::central::bucket_of;
use crate::heap::Heap;
use crate::page_heap::PageHeap;
use crate::slot::chain;
use crate::small::span_of;
use crate::snapshot::each_span;
use crate::span::State;

/// What was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Spans in use.
    pub spans: usize,
    /// Pages of these.
    pub pages: usize,
    /// Free pages.
    pub free_pages: usize,
    /// Slots and large objects that caches, lists kept whole, or the program have.
    pub used: usize,
}

/// Where the parts disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// How.
    pub what: &'static str,
    /// At which page.
    pub page: usize,
}

fn ensure(holds: bool, what: &'static str, page: u32) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(Broken { what, page: page as usize }) }
}

impl Heap {
    /// Looks the heap over. Nobody uses it meanwhile. Takes time in proportion to its pages and free
    /// slots.
    ///
    /// # Errors
    /// The first disagreement found.
    pub fn check(&self) -> Result<Census, Broken> {
        let Some(arena) = self.arena() else { return Ok(Census::default()) };
        let mut census = Census::default();
        check_runs(arena, &mut census)?;
        let mut result = Ok(());
        each_span(arena, |page| {
            let checked = check_span(arena, page, &mut census);
            result = result.and(checked);
        });
        result?;
        self.check_free_lists(arena, &census)?;
        self.check_centrals(arena)?;
        for page in self.idle_stacks.lock().pages(arena) {
            ensure(arena.span(page).state() == State::StackIdle, "a used stack is idle", page)?;
        }
        Ok(census)
    }

    fn check_free_lists(&self, arena: &Arena, census: &Census) -> Result<(), Broken> {
        let page_heap = self.page_heap().lock();
        let (mut listed, mut dirty) = (0, 0);
        for (bin, list) in page_heap.bins() {
            for page in list.iter(arena) {
                let span = arena.span(page);
                ensure(span.state() == State::Free, "a run in use is in a free list", page)?;
                ensure(PageHeap::bin_of(span.pages.get()) == bin, "a free run's list", page)?;
                ensure(span.dirty.get() <= span.pages.get(), "a free run's dirty pages", page)?;
                listed += span.pages.get() as usize;
                dirty += span.dirty.get() as usize;
            }
        }
        ensure(listed == census.free_pages, "free pages are not all listed", 0)?;
        ensure(listed == page_heap.free_pages() as usize, "the count of free pages", 0)?;
        ensure(dirty == page_heap.dirty_pages() as usize, "the count of dirty pages", 0)
    }

    fn check_centrals(&self, arena: &Arena) -> Result<(), Broken> {
        for class in SizeClass::all() {
            for slot in self.central(class).lock().slots() {
                span_of(arena, slot, class);
            }
            for (bucket, page) in self.central(class).lock().spans(arena) {
                let span = arena.span(page);
                ensure(span.state() == State::Small, "a central list's span", page)?;
                ensure(span.class() == class, "a span's class", page)?;
                ensure(usize::from(span.bucket.get()) == bucket, "a span's list", page)?;
                ensure(bucket_of(span) == span.bucket.get(), "how full a span is", page)?;
            }
        }
        Ok(())
    }
}

/// Runs follow each other without gap, and no two free ones touch.
fn check_runs(arena: &Arena, census: &mut Census) -> Result<(), Broken> {
    let (bottom, top) = arena.bounds();
    for (start, end, gaps) in [(1, bottom, false), (top, arena.pages(), true)] {
        let (mut page, mut free_before) = (start, false);
        while page < end {
            let span = arena.span(page);
            let (state, pages) = (span.state(), span.pages.get());
            if state == State::None {
                ensure(gaps, "a page belongs to no run", page)?;
                page += 1;
                free_before = false;
                continue;
            }
            ensure(pages > 0 && page + pages <= end, "a run's length", page)?;
            ensure(arena.first_of(page) == page, "a run's first page", page)?;
            ensure(arena.first_of(page + pages - 1) == page, "a run's last page", page)?;
            let free = state == State::Free;
            ensure(!(free && free_before), "two free runs touch", page)?;
            if free {
                census.free_pages += pages as usize;
            }
            free_before = free;
            page += pages;
        }
    }
    Ok(())
}

fn check_span(arena: &Arena, page: u32, census: &mut Census) -> Result<(), Broken> {
    let span = arena.span(page);
    census.spans += 1;
    census.pages += span.pages.get() as usize;
    if span.state() == State::Large {
        census.used += 1;
    }
    if span.state() != State::Small {
        return Ok(());
    }
    let (slots, carved, used) = (span.slots.get(), span.carved.get(), span.used.get());
    ensure(used <= carved && carved <= slots, "a span's counts", page)?;
    // SAFETY: the chain is the span's own, and nobody uses the heap meanwhile.
    let free = unsafe { chain(span.free.get()) }.take(carved as usize + 1).count();
    ensure(free == (carved - used) as usize, "a span's free slots", page)?;
    let inside = (page..page + span.pages.get()).all(|p| arena.first_of(p) == page);
    ensure(inside, "a page of a span leads elsewhere", page)?;
    census.used += used as usize;
    Ok(())
}
