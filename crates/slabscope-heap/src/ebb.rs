//! What is given up when a program has let go of much.
//!
//! A slot that is kept free for the next who asks holds its whole span, and a span in the middle breaks a
//! long run of free pages. As long as a heap is full that is little of it. When most of it is free again, what
//! comes next would be put between such spans, and long runs on pages that were never touched.

use core::sync::atomic::Ordering;

use crate::PAGE_SIZE;
use crate::heap::Heap;
use crate::observer::Observer;
use crate::thread_cache::ThreadCache;

/// With fewer pages in use than these at the most, there is nothing to gain.
const HIGH_MIN: u32 = (4 << 20) / PAGE_SIZE as u32;

/// How many pages were in use at the most, since the start or the last ebb.
#[derive(Debug)]
pub(crate) struct HighWater(u32);

impl HighWater {
    pub(crate) const fn new() -> Self {
        HighWater(0)
    }

    /// Notes that `used` pages are in use, some of them newly.
    pub(crate) fn rise(&mut self, used: u32) {
        self.0 = self.0.max(used);
    }

    /// Notes that only `used` pages are in use now; says whether that is an ebb: half of what it was.
    pub(crate) fn is_ebb(&mut self, used: u32) -> bool {
        let is_ebb = self.0 >= HIGH_MIN && used <= self.0 / 2;
        if is_ebb {
            self.0 = used;
        }
        is_ebb
    }
}

impl Heap {
    /// Gives the slots back to their spans that `cache` and the central lists keep, if there was an ebb since
    /// the last call.
    #[inline]
    pub(crate) fn give_up_at_ebb(&self, cache: &mut ThreadCache, observer: &mut impl Observer) {
        // Nothing is read that was written before it was set, and who finds it first does the work.
        if self.ebb.load(Ordering::Relaxed) && self.ebb.swap(false, Ordering::Relaxed) {
            self.give_up(cache, observer);
        }
    }

    #[cold]
    #[inline(never)]
    fn give_up(&self, cache: &mut ThreadCache, observer: &mut impl Observer) {
        let Some(arena) = self.arena() else { return };
        self.flush(cache, observer);
        self.flush_lists(arena, observer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ebb_is_told_once() {
        let mut water = HighWater::new();
        water.rise(HIGH_MIN - 1);
        assert!(!water.is_ebb(0));
        water.rise(HIGH_MIN * 4);
        water.rise(HIGH_MIN);
        assert!(!water.is_ebb(HIGH_MIN * 2 + 1));
        assert!(water.is_ebb(HIGH_MIN * 2));
        assert!(!water.is_ebb(HIGH_MIN + 1));
        assert!(water.is_ebb(HIGH_MIN));
        assert!(water.is_ebb(1) && !water.is_ebb(0));
    }
}
