//! Giving the memory of free pages back to the kernel.
//!
//! A program that allocates nothing calls nobody, and there is no thread of ours that could look after
//! it: so what is too much goes back when it is freed.

use core::sync::atomic::Ordering;

use slabscope_os::map;

use crate::PAGE_SIZE;
use crate::arena::Arena;
use crate::dirty_limit::DIRTY_KEPT;
use crate::heap::Heap;

impl Heap {
    /// Gives a run that nobody uses any more back to the page heap, and memory to the kernel if there
    /// is too much of it.
    pub(crate) fn free_run(&self, arena: &Arena, page: u32, zeroed: bool) {
        let mut page_heap = self.page_heap().lock();
        page_heap.give_back(arena, page, zeroed);
        if page_heap.is_ebb(arena) {
            self.ebb.store(true, Ordering::Relaxed);
        }
        if page_heap.is_too_dirty() {
            drop(page_heap);
            self.discard_free(arena, DIRTY_KEPT);
        }
    }

    /// Gives memory back to the kernel until free pages keep no more than `keep` pages of it, as far as
    /// their runs are worth it. Without the lock while the kernel works.
    pub(crate) fn discard_free(&self, arena: &Arena, keep: u32) {
        if self.discard_runs(arena, keep, false) {
            // Of runs too thin to be whole kernel pages as many are kept as are in use: it is those that
            // scatter them.
            let thin = if keep == 0 { 0 } else { self.page_heap().lock().used_pages(arena) };
            self.discard_runs(arena, keep + thin, true);
        }
        self.page_heap().lock().set_dirty_left();
    }

    /// See [`PageHeap::take_dirty`](crate::page_heap::PageHeap::take_dirty); `false` if the kernel
    /// refuses.
    fn discard_runs(&self, arena: &Arena, keep: u32, thin: bool) -> bool {
        loop {
            let Some(run) = self.page_heap().lock().take_dirty(arena, keep, thin) else {
                return true;
            };
            let len = run.pages as usize * PAGE_SIZE;
            // SAFETY: the run was free and is ours until it is given back.
            let zeroed = unsafe { map::discard(arena.address(run.first), len) };
            let mut page_heap = self.page_heap().lock();
            page_heap.give_back(arena, run.first, zeroed);
            if !zeroed {
                return false;
            }
            page_heap.count_gone(run.pages);
        }
    }
}
