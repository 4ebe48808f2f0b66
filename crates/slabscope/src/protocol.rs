//! The safepoint's words: who stores and loads what, in which order.
//!
//! Apart from all else, so that a model runs this very file through all interleavings
//! (`models/tests/safepoint/main.rs`).

use super::sync::{AtomicU8, Ordering, barrier_of_all, barrier_of_few};

/// Outside every operation.
pub(crate) const IDLE: u8 = 0;
/// Inside an operation; the safepoint waits for it.
pub(crate) const BUSY: u8 = 1;

/// A thread enters an operation: it stores BUSY, then loads the mode. Whoever stops the world stores
/// the mode, has every CPU pass a barrier, then loads the states: so it sees BUSY, or this sees the
/// mode.
#[inline(always)]
pub(crate) fn enter(state: &AtomicU8, mode: &AtomicU8) -> u8 {
    state.store(BUSY, Ordering::Relaxed);
    barrier_of_few();
    // Acquire pairs with the release in `open`: what was done while the world stood still is done.
    mode.load(Ordering::Acquire)
}

/// A thread leaves its operation. Release, so that whoever stops the world sees what it did.
#[inline(always)]
pub(crate) fn leave(state: &AtomicU8) {
    state.store(IDLE, Ordering::Release);
}

/// Somebody asks all threads to stop by setting `bits`; then he waits until none [`is_inside`].
pub(crate) fn request(mode: &AtomicU8, bits: u8) {
    // The barrier orders this before the loads of the states.
    mode.fetch_or(bits, Ordering::Relaxed);
    barrier_of_all();
}

/// Whether a thread is inside an operation. Acquire pairs with the release in [`leave`].
pub(crate) fn is_inside(state: &AtomicU8) -> bool {
    state.load(Ordering::Acquire) == BUSY
}

/// The world goes on: `bits` are taken back.
pub(crate) fn open(mode: &AtomicU8, bits: u8) {
    mode.fetch_and(!bits, Ordering::Release);
}
