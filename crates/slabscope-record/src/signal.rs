//! How threads and the drainer wait for each other.

use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;

use slabscope_os::futex;

/// Waking and waiting, apart from any session.
#[derive(Debug)]
pub struct Signal {
    /// Rounds the drainer has made. Waiters sleep on it; relaxed, since it orders nothing.
    rounds: AtomicU32,
    /// 1 when the drainer should start its next round at once. It sleeps on it.
    nudged: AtomicU32,
}

impl Signal {
    /// At rest.
    #[expect(clippy::new_without_default, reason = "it is made for a static")]
    pub const fn new() -> Self {
        Signal { rounds: AtomicU32::new(0), nudged: AtomicU32::new(0) }
    }

    /// The word that changes with every round, and its value now.
    pub(crate) fn rounds(&self) -> (&AtomicU32, u32) {
        (&self.rounds, self.rounds.load(Ordering::Relaxed))
    }

    /// Has the drainer start its next round at once.
    pub fn nudge(&self) {
        if self.nudged.swap(1, Ordering::Relaxed) == 0 {
            futex::wake(&self.nudged, 1);
        }
    }

    /// Waits until the drainer has made a round, for a moment at most. For a thread that is outside
    /// every operation, after one that left its ring pressed.
    pub fn wait_for_room(&self) {
        let (word, value) = self.rounds();
        self.nudge();
        futex::wait(word, value, Duration::from_millis(5));
    }

    /// The drainer's pause between rounds.
    pub(crate) fn pause(&self, length: Duration) {
        futex::wait(&self.nudged, 0, length);
        self.nudged.store(0, Ordering::Relaxed);
    }

    /// The drainer has made a round.
    pub(crate) fn round_made(&self) {
        self.rounds.fetch_add(1, Ordering::Relaxed);
        futex::wake(&self.rounds, i32::MAX);
    }
}
