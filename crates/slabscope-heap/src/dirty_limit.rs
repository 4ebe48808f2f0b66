//! How much memory free pages keep before some of it goes back to the kernel.
//!
//! What was given back and is soon taken again cost a call and a fault for each page, for nothing. So
//! where that is what happened, more is kept for a while.

use crate::PAGE_SIZE;

/// Free pages that keep their memory, for the next who asks. With more than these it goes back to the
/// kernel at once: no thread of ours is there to do it later.
const MAX: u32 = pages(48 << 20);

/// So many keep it for a while where pages that went back were taken again.
const MAX_FOR_A_WHILE: u32 = pages(192 << 20);

/// That while, in nanoseconds. Who frees when it is over gives back.
const WHILE: u64 = 1_000_000_000;

/// So many must have been taken again for that.
const RETAKEN_MIN: u32 = pages(16 << 20);

/// How many more than can go back there must be before it is tried again.
const STEP: u32 = pages(8 << 20);

/// How many keep their memory then.
pub(crate) const DIRTY_KEPT: u32 = MAX - STEP;

const fn pages(bytes: usize) -> u32 {
    (bytes / PAGE_SIZE) as u32
}

/// The limit, and what happened to the pages that went back. All but the time in pages.
#[derive(Debug)]
pub(crate) struct DirtyLimit {
    /// With more dirty pages than this some go back, now or after a while.
    max: u32,
    /// Since when there have been more than `max`; 0 while there are not.
    since: u64,
    /// Went back, and were not taken since.
    gone: u32,
    /// Went back and were taken again.
    retaken: u32,
}

impl DirtyLimit {
    pub(crate) const fn new() -> Self {
        DirtyLimit { max: MAX, since: 0, gone: 0, retaken: 0 }
    }

    /// Notes that `pages` went back to the kernel.
    pub(crate) fn count_gone(&mut self, pages: u32) {
        self.gone = self.gone.saturating_add(pages);
    }

    /// Notes that `pages` without memory were taken, and that `dirty` ones are left. They count for
    /// such as went back, as far as there are any.
    pub(crate) fn count_taken(&mut self, pages: u32, dirty: u32) {
        let again = pages.min(self.gone);
        self.gone -= again;
        self.retaken = self.retaken.saturating_add(again);
        if dirty <= self.max {
            self.since = 0;
        }
    }

    /// Whether some of `dirty` pages should go back; `now` tells the time, in nanoseconds.
    ///
    /// Beyond the larger limit what was taken again is forgotten: so a large peak leaves as little
    /// behind as if it had been the first.
    pub(crate) fn is_passed(&mut self, dirty: u32, now: impl FnOnce() -> u64) -> bool {
        if dirty <= self.max {
            self.since = 0;
            return false;
        }
        if dirty > MAX_FOR_A_WHILE {
            self.retaken = 0;
        }
        if self.retaken < RETAKEN_MIN {
            return true;
        }
        let now = now();
        if self.since == 0 {
            self.since = now;
        }
        now.saturating_sub(self.since) >= WHILE
    }

    /// What kept pages from going back may not be there any more.
    pub(crate) fn try_again(&mut self) {
        self.max = MAX;
    }

    /// Notes that as many went back as could, and `dirty` are left.
    pub(crate) fn set_left(&mut self, dirty: u32) {
        self.max = MAX.max(dirty + STEP);
        self.since = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frees `pages` one by one at the time `now`, giving back what the limit says; how many went back.
    fn free(limit: &mut DirtyLimit, dirty: &mut u32, pages: u32, now: u64) -> u32 {
        let mut gone = 0;
        for _ in 0..pages {
            *dirty += 1;
            if limit.is_passed(*dirty, || now) {
                limit.count_gone(*dirty - DIRTY_KEPT);
                gone += *dirty - DIRTY_KEPT;
                *dirty = DIRTY_KEPT;
                limit.set_left(*dirty);
            }
        }
        gone
    }

    /// Takes `pages`, those with memory first.
    fn take(limit: &mut DirtyLimit, dirty: &mut u32, pages: u32) {
        let with_memory = pages.min(*dirty);
        *dirty -= with_memory;
        limit.count_taken(pages - with_memory, *dirty);
    }

    #[test]
    fn what_is_taken_again_stays_the_next_time() {
        let (mut limit, mut dirty) = (DirtyLimit::new(), 0);
        let peak = pages(128 << 20);
        assert!(free(&mut limit, &mut dirty, peak, 1) >= peak - MAX);
        take(&mut limit, &mut dirty, peak);
        for round in 1..4 {
            assert_eq!(free(&mut limit, &mut dirty, peak, round * WHILE), 0);
            take(&mut limit, &mut dirty, peak);
        }
    }

    #[test]
    fn what_nobody_takes_for_a_while_goes_back() {
        let (mut limit, mut dirty) = (DirtyLimit::new(), 0);
        let peak = pages(128 << 20);
        free(&mut limit, &mut dirty, peak, 1);
        take(&mut limit, &mut dirty, peak);
        assert_eq!(free(&mut limit, &mut dirty, peak, 1), 0);
        take(&mut limit, &mut dirty, 1);
        assert_eq!(free(&mut limit, &mut dirty, 1, WHILE), 0);
        take(&mut limit, &mut dirty, 1);
        free(&mut limit, &mut dirty, 1, WHILE + 1);
        assert_eq!(dirty, DIRTY_KEPT);
    }

    #[test]
    fn a_large_peak_leaves_little_whatever_was_before() {
        let (mut limit, mut dirty) = (DirtyLimit::new(), 0);
        for peak in [pages(128 << 20), pages(1 << 30), pages(1 << 30)] {
            free(&mut limit, &mut dirty, peak, 1);
            take(&mut limit, &mut dirty, peak);
        }
        free(&mut limit, &mut dirty, pages(1 << 30), 1);
        assert!(dirty <= MAX, "{dirty}");
    }

    #[test]
    fn pages_never_had_before_are_no_reason_to_wait() {
        let (mut limit, mut dirty) = (DirtyLimit::new(), 0);
        take(&mut limit, &mut dirty, pages(1 << 30));
        free(&mut limit, &mut dirty, pages(128 << 20), 1);
        assert!(dirty <= MAX, "{dirty}");
    }
}
