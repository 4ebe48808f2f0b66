//! How threads and the drainer wait for each other.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use core::time::Duration;

use slabscope_os::{clock, futex};

/// A bound on one sleep, so that a lost wake-up costs time and not the program.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Waking and waiting, apart from any session.
#[derive(Debug)]
pub struct Signal {
    /// Rounds the drainer has made. Waiters sleep on it; relaxed, since it orders nothing.
    rounds: AtomicU32,
    /// 1 when the drainer should start its next round at once. It sleeps on it.
    nudged: AtomicU32,
    /// How long to wait for a round, in milliseconds; the running session's.
    patience: AtomicU32,
    /// Whether somebody waited so long in vain.
    overdue: AtomicBool,
}

impl Signal {
    /// At rest.
    #[expect(clippy::new_without_default, reason = "it is made for a static")]
    pub const fn new() -> Self {
        Signal {
            rounds: AtomicU32::new(0),
            nudged: AtomicU32::new(0),
            patience: AtomicU32::new(0),
            overdue: AtomicBool::new(false),
        }
    }

    /// For a session that begins: nobody has waited yet, and nobody is to wait longer than this.
    pub(crate) fn begin(&self, patience: Duration) {
        let millis = u32::try_from(patience.as_millis()).unwrap_or(u32::MAX);
        self.patience.store(millis, Ordering::Relaxed);
        self.overdue.store(false, Ordering::Relaxed);
    }

    /// Whether somebody waited for the drainer in vain.
    pub(crate) fn is_overdue(&self) -> bool {
        self.overdue.load(Ordering::Relaxed)
    }

    /// The word that changes with every round, and its value now.
    pub(crate) fn rounds(&self) -> (&AtomicU32, u32) {
        (&self.rounds, self.rounds.load(Ordering::Relaxed))
    }

    /// Has the drainer start its next round at once.
    pub fn nudge(&self) {
        // A load first, since many may come before the drainer does.
        if self.nudged.load(Ordering::Relaxed) == 0 && self.nudged.swap(1, Ordering::Relaxed) == 0 {
            futex::wake(&self.nudged, 1);
        }
    }

    /// Waits until the drainer has made a round, or too long. For a thread that is outside every
    /// operation, after one that left its ring pressed.
    pub fn wait_for_room(&self) {
        let (word, value) = self.rounds();
        self.nudge();
        futex::wait(word, value, LOOK_EVERY);
        let begun = clock::monotonic_ns();
        while word.load(Ordering::Relaxed) == value && !self.is_overdue() {
            self.nudge();
            futex::wait(word, value, LOOK_EVERY);
            let waited = clock::monotonic_ns().saturating_sub(begun) / 1_000_000;
            if waited > u64::from(self.patience.load(Ordering::Relaxed)) {
                self.overdue.store(true, Ordering::Relaxed);
            }
        }
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
