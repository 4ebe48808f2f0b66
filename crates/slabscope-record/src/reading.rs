//! Readings of the clock, and how they keep the order of events that depend on each other.
//!
//! A reading costs more than all the rest of an event, so a thread uses one for many events. Order needs
//! more than that: an object that one thread frees was allocated before by another, and a slot that
//! one thread gets was freed before by another. So each page has a clock ([`PageClocks`]), the latest
//! reading that an event on it was recorded with. An event whose thread's reading is not later than
//! its page's clock takes a fresh reading first, and every event raises its page's clock to its own
//! reading before its operation goes on.
//!
//! Why that is enough. Let an event A on a page come before an event B on it: whoever does B got the
//! object or the slot from whoever did A, through memory. A raised the clock before it handed anything
//! on, and clocks only rise, so B sees that or more. If B's thread has no later reading it takes one
//! now, which is later than any that was taken before. The one reading that may be equal is B's own, and a
//! clock is somebody's own reading only while all of other threads on that page are earlier by far enough:
//! who raises a clock that another has raised meanwhile, about as high, makes it nobody's.

use core::sync::atomic::{AtomicU64, Ordering};

use slabscope_wire::alloc_free::{OBJECT_ALIGN, PAGE_SIZE};

use crate::mapped::Mapped;

/// Ticks of one step of a [`Reading`]: two steps are more than a nanosecond on any machine, so readings
/// that are two apart differ in the trace too.
const STEP_LOG: u32 = 6;

/// Bits of a [`Reading`] that say whose it is.
const OWNER_BITS: u32 = 12;

/// The owner of readings that are nobody's own: none is taken for the same as another.
pub(crate) const NOBODY: u32 = (1 << OWNER_BITS) - 1;

/// From here on ticks would not fit: 3.5 years of 2.6 GHz.
pub(crate) const TICKS_MAX: u64 = 1 << (64 - OWNER_BITS + STEP_LOG);

/// A reading of the clock and whose it is: `[ticks / 64 : 52 | owner : 12]`.
///
/// The owner is the CPU it was read on, in rings that belong to CPUs, else the thread. So two threads
/// never have the same reading: on one CPU, changing threads takes more than 64 ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reading(u64);

impl Reading {
    /// Before every other.
    pub(crate) const NONE: Reading = Reading(0);

    #[inline]
    pub(crate) const fn new(ticks: u64, owner: u32) -> Self {
        Reading(ticks >> STEP_LOG << OWNER_BITS | owner as u64)
    }

    #[inline]
    const fn step(self) -> u64 {
        self.0 >> OWNER_BITS
    }

    /// Whether an event may have the reading `own`, on a page whose clock is this.
    #[inline]
    pub(crate) fn allows(self, own: Reading) -> bool {
        self == own || self.step() + 2 <= own.step()
    }

    /// What a fresh reading has to be at least, in ticks, on a page whose clock is this.
    pub(crate) const fn floor(self) -> u64 {
        (self.step() + 2) << STEP_LOG
    }

    /// For a thread's own memory of it.
    #[inline]
    pub(crate) const fn as_word(self) -> u64 {
        self.0
    }

    #[inline]
    pub(crate) const fn from_word(word: u64) -> Self {
        Reading(word)
    }
}

/// Clocks of this many pages; pages that share one cost readings and nothing else.
const CLOCKS: usize = 1 << 14;

/// Objects of a page, by how ids count.
const IDS_LOG: u32 = (PAGE_SIZE / OBJECT_ALIGN).trailing_zeros();

/// The clocks of all pages.
#[derive(Debug)]
pub(crate) struct PageClocks {
    /// Words of [`Reading`]. They only rise. Relaxed: see the module's head, it is the program that
    /// orders events on different threads, and with them what they do to one word.
    clocks: Mapped<AtomicU64>,
}

/// The clock of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageClock<'a>(&'a AtomicU64);

impl PageClocks {
    /// All at the beginning of time; `None` when there is no memory.
    pub(crate) fn new() -> Option<Self> {
        Some(PageClocks { clocks: Mapped::new(CLOCKS)? })
    }

    /// That of the page an object begins on.
    #[inline]
    pub(crate) fn of_object(&self, id: u64) -> PageClock<'_> {
        self.of_page(id >> IDS_LOG)
    }

    /// That of a page.
    #[inline]
    pub(crate) fn of_page(&self, page: u64) -> PageClock<'_> {
        match self.clocks.get(page as usize & (CLOCKS - 1)) {
            Some(clock) => PageClock(clock),
            None => slabscope_os::fatal(&["no clock of a page"]),
        }
    }
}

impl PageClock<'_> {
    #[inline]
    pub(crate) fn get(self) -> Reading {
        Reading(self.0.load(Ordering::Relaxed))
    }

    /// Raises it, for an event with the reading `to`. A maximum, so that of two threads neither undoes what
    /// the other did.
    #[inline]
    pub(crate) fn raise(self, to: Reading) {
        let before = Reading(self.0.fetch_max(to.0, Ordering::Relaxed));
        if !before.allows(to) {
            self.disown(before.max(to));
        }
    }

    /// As [`PageClock::raise`], where it was `seen` just now.
    #[inline(always)]
    pub(crate) fn raise_from(self, seen: Reading, to: Reading) {
        // The clock allows `to` if nobody has raised it since, and then this is the maximum.
        let raised = self.0.compare_exchange(seen.0, to.0, Ordering::Relaxed, Ordering::Relaxed);
        if raised.is_err() {
            self.raise_again(to);
        }
    }

    #[cold]
    #[inline(never)]
    fn raise_again(self, to: Reading) {
        self.raise(to);
    }

    /// Another thread has raised it about as high at the same time. Neither may go on with its own reading,
    /// which would be earlier than what the other hands it, or the same.
    #[cold]
    fn disown(self, highest: Reading) {
        self.0.fetch_max(highest.0 | u64::from(NOBODY), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_is_allowed_if_it_is_the_same_or_later_in_nanoseconds() {
        let clock = Reading::new(1_000_000, 3);
        assert!(clock.allows(clock));
        assert!(!clock.allows(Reading::new(1_000_000, 2)), "another's at the same time");
        assert!(!clock.allows(Reading::new(1_000_000 + 64, 3)), "too near");
        assert!(!clock.allows(Reading::new(900_000, 3)));
        assert!(clock.allows(Reading::new(clock.floor(), 3)));
        // Even at 8 ticks a nanosecond there is one between them.
        assert!(clock.floor() - (1_000_000 | 63) > 8);
        assert!(Reading::NONE.allows(Reading::new(128, 0)));
        assert_eq!(Reading::new(TICKS_MAX - 1, NOBODY).step(), (1 << 52) - 1);
    }

    #[test]
    fn who_raises_a_clock_at_the_same_time_as_another_has_both_read_again() {
        let clocks = PageClocks::new().unwrap();
        // The second comes to a clock that the first has raised since it looked.
        for (page, first, second) in
            [(1, (100, 1), (100, 0)), (2, (101, 0), (100, 1)), (3, (100, 0), (101, 1))]
        {
            let clock = clocks.of_page(page);
            let [first, second] =
                [first, second].map(|(step, owner)| Reading::new(step << 6, owner));
            clock.raise(first);
            assert!(clock.get().allows(first));
            clock.raise(second);
            for own in [first, second] {
                assert!(!clock.get().allows(own), "{page}: {own:?} by {:?}", clock.get());
            }
            assert!(clock.get().floor() >= 102 << 6);
        }
        // One that is later by far is the clock's.
        let later = Reading::new(200 << 6, 1);
        clocks.of_page(1).raise(later);
        clocks.of_page(1).raise(later);
        assert!(clocks.of_page(1).get().allows(later));
    }

    #[test]
    fn clocks_rise_and_never_fall() {
        let clocks = PageClocks::new().unwrap();
        let (early, late) = (Reading::new(10_000, 1), Reading::new(20_000, 0));
        clocks.of_object(1024).raise(late);
        clocks.of_page(1).raise(early);
        assert_eq!(clocks.of_object(2047).get().step(), late.step());
        assert_eq!(clocks.of_object(2048).get(), Reading::NONE);
        let shared = clocks.of_page(1 + CLOCKS as u64).get();
        assert_eq!(shared.step(), late.step(), "they are shared in the end");
    }
}
