//! Waiting for the drainer to look at what was loaded.
//!
//! The event that a stack is for is not in a ring yet, so its thread is inside an operation, and whoever
//! stops the world waits for it. The drainer waits for no thread and for no lock of the loader, so the
//! wait ends: after a round that began later than it, or when nobody waits for the drainer any longer.

use core::time::Duration;

use slabscope_os::{clock, futex};

use super::Stacks;
use crate::session::Session;

/// Rounds of the drainer after which one has begun and ended: one may have been under way.
const ROUNDS: u32 = 2;

/// A bound on one sleep, so that a lost wake-up costs time and not the program.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Waits until somebody has looked at the code that a walk did not know, or the drainer is stuck.
pub(super) fn wait(stacks: &Stacks, session: &Session) {
    let signal = session.signal();
    let (rounds, first) = signal.rounds();
    let begun = clock::monotonic_ns();
    while stacks.wants_scan() && !session.has_failed() {
        let (_, now) = signal.rounds();
        let waited = clock::monotonic_ns().saturating_sub(begun);
        if now.wrapping_sub(first) >= ROUNDS
            || u128::from(waited) > session.policy().stall.as_nanos()
        {
            return;
        }
        signal.nudge();
        futex::wait(rounds, now, LOOK_EVERY);
    }
}
