//! What a thread keeps of its last push: the reading it used, and where the next event may stand with
//! the same one.
//!
//! Atomic and relaxed, since a signal handler of the thread may come in between; nobody else looks. A
//! handler that pushes makes the thread's next push a fresh one ([`ThreadClock::interrupt`]).

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, compiler_fence};

use slabscope_os::rseq::{Commit, RingHead, Streak};

use crate::reading::Reading;

/// Events that share a reading at most. It costs each a fraction of a nanosecond long before; but with a new
/// reading the clock of each page is to be raised anew, by an instruction that waits for all before it.
const EVENTS_MAX: u32 = 4096;

/// Events that share a reading should take less than this many ticks, a fifth to half a millisecond.
const SPAN: u64 = 1 << 20;

/// A thread's clock.
#[derive(Debug)]
pub struct ThreadClock {
    streak: Streak,
    reading: AtomicU64,
    ticks: AtomicU64,
    /// Events that may share the next reading.
    events: AtomicU32,
    /// How often a signal handler of the thread pushed.
    interrupts: AtomicU32,
    by_cas: LastByCas,
}

/// Where the last push by compare-and-swap left its ring.
#[derive(Debug)]
struct LastByCas {
    ring: AtomicU64,
    head: AtomicU64,
    /// Events that may still share the reading.
    left: AtomicU32,
}

/// No ring's number.
const NO_RING: u64 = u64::MAX;

/// A push that takes a reading has begun.
#[derive(Debug)]
pub(crate) struct Begun {
    interrupts: u32,
}

impl ThreadClock {
    /// That of a thread that has pushed nothing.
    #[expect(clippy::new_without_default, reason = "it is made for thread-locals")]
    pub const fn new() -> Self {
        ThreadClock {
            streak: Streak::none(),
            reading: AtomicU64::new(0),
            ticks: AtomicU64::new(0),
            events: AtomicU32::new(1),
            interrupts: AtomicU32::new(0),
            by_cas: LastByCas {
                ring: AtomicU64::new(NO_RING),
                head: AtomicU64::new(0),
                left: AtomicU32::new(0),
            },
        }
    }

    /// For a new trace, whose rings are others.
    pub fn reset(&self) {
        self.end();
        self.reading.store(0, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn streak(&self) -> &Streak {
        &self.streak
    }

    /// The reading that the next event may use.
    #[inline]
    pub(crate) fn reading(&self) -> Reading {
        Reading::from_word(self.reading.load(Ordering::Relaxed))
    }

    fn end(&self) {
        self.streak.end();
        self.by_cas.ring.store(NO_RING, Ordering::Relaxed);
    }

    /// A signal handler of the thread has pushed: the reading is the last one no more.
    pub(crate) fn interrupt(&self) {
        self.interrupts
            .store(self.interrupts.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        self.end();
    }

    /// A push begins that takes a reading.
    pub(crate) fn begin(&self) -> Begun {
        self.end();
        let begun = Begun { interrupts: self.interrupts.load(Ordering::Relaxed) };
        // A handler comes before this or is counted.
        compiler_fence(Ordering::SeqCst);
        begun
    }

    /// It was committed on `ring` with `reading`; as many events may follow with the same as have room
    /// in `words`.
    pub(crate) fn follow(
        &self,
        begun: &Begun,
        ring: &RingHead,
        thread: u32,
        commit: &Commit,
        reading: Reading,
        words: u64,
    ) {
        self.note(reading, commit.ticks);
        let words = words.min(self.events.load(Ordering::Relaxed).into()) as u32;
        self.streak.begin(ring, thread, commit, words);
        self.end_if_interrupted(begun);
    }

    /// As [`ThreadClock::follow`], for a ring that now has this head.
    pub(crate) fn follow_by_cas(&self, begun: &Begun, last: Last, reading: Reading) {
        let events = if last.is_fresh {
            self.note(reading, last.ticks);
            self.events.load(Ordering::Relaxed)
        } else {
            self.by_cas.left.load(Ordering::Relaxed).saturating_sub(1)
        };
        self.by_cas.left.store(events, Ordering::Relaxed);
        self.by_cas.head.store(last.head, Ordering::Relaxed);
        self.by_cas.ring.store(last.ring, Ordering::Relaxed);
        self.end_if_interrupted(begun);
    }

    /// The head that `ring` must still have, and the ticks, for an event by compare-and-swap to share
    /// the last reading. To be asked before [`ThreadClock::begin`].
    pub(crate) fn shared_by_cas(&self, ring: usize) -> Option<(u64, u64)> {
        let by_cas = &self.by_cas;
        let is_last = by_cas.ring.load(Ordering::Relaxed) == ring as u64;
        (is_last && by_cas.left.load(Ordering::Relaxed) > 0)
            .then(|| (by_cas.head.load(Ordering::Relaxed), self.ticks.load(Ordering::Relaxed)))
    }

    /// Remembers a reading, and how many events may share it by how long it was since the last one.
    fn note(&self, reading: Reading, ticks: u64) {
        let passed = ticks.saturating_sub(self.ticks.load(Ordering::Relaxed));
        let events = self.events.load(Ordering::Relaxed);
        let events = match passed {
            ..SPAN_SHORT => (events * 2).min(EVENTS_MAX),
            SPAN.. => (events / 4).max(1),
            _ => events,
        };
        self.events.store(events, Ordering::Relaxed);
        self.ticks.store(ticks, Ordering::Relaxed);
        self.reading.store(reading.as_word(), Ordering::Relaxed);
    }

    fn end_if_interrupted(&self, begun: &Begun) {
        // A handler comes before this and is seen, or after it and ends what was begun.
        compiler_fence(Ordering::SeqCst);
        if self.interrupts.load(Ordering::Relaxed) != begun.interrupts {
            self.end();
        }
    }
}

/// When events that share a reading may become more.
const SPAN_SHORT: u64 = SPAN / 4;

/// A push by compare-and-swap that was committed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Last {
    pub(crate) ring: u64,
    /// The ring's head after it.
    pub(crate) head: u64,
    pub(crate) ticks: u64,
    /// Whether the clock was read for it.
    pub(crate) is_fresh: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(head: u64, ticks: u64, is_fresh: bool) -> Last {
        Last { ring: 1, head, ticks, is_fresh }
    }

    #[test]
    fn slow_threads_read_the_clock_each_time_and_fast_ones_seldom() {
        let clock = ThreadClock::new();
        let mut ticks = 10 * SPAN;
        let mut share = |passed: u64| {
            ticks += passed;
            let begun = clock.begin();
            clock.follow_by_cas(&begun, last(5, ticks, true), Reading::new(ticks, 0));
            clock.by_cas.left.load(Ordering::Relaxed)
        };
        let fast: [u32; 14] = core::array::from_fn(|_| share(1000));
        assert_eq!(fast[..8], [1, 2, 4, 8, 16, 32, 64, 128]);
        assert_eq!(fast[12..], [EVENTS_MAX; 2]);
        assert_eq!([share(2 * SPAN), share(2 * SPAN), share(SPAN)], [1024, 256, 64]);
    }

    #[test]
    fn a_signal_handler_that_pushes_ends_what_was_begun() {
        let clock = ThreadClock::new();
        let begun = clock.begin();
        clock.follow_by_cas(&begun, last(7, 100, true), Reading::new(100, 0));
        assert_eq!(clock.shared_by_cas(1), Some((7, 100)));
        assert_eq!(clock.shared_by_cas(0), None);
        let begun = clock.begin();
        clock.interrupt();
        clock.follow_by_cas(&begun, last(9, 200, true), Reading::new(200, 0));
        assert_eq!(clock.shared_by_cas(1), None);
    }
}
