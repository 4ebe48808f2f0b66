//! The safepoint's words: who stores and loads what, in which order.
//!
//! Apart from all else, so that a model runs this very file through all interleavings
//! (`models/tests/safepoint/main.rs`).

use super::sync::{AtomicPtr, AtomicU8, Ordering, barrier_of_all, barrier_of_few};

/// Outside every operation.
pub(crate) const IDLE: u8 = 0;
/// Inside an operation; the safepoint waits for it.
pub(crate) const BUSY: u8 = 1;

/// A thread enters an operation: it stores BUSY, then loads where it is led to, or the mode. Whoever
/// stops the world stores both, has every CPU pass a barrier, then loads the states: so it sees BUSY, or
/// this sees what it stored.
#[inline(always)]
pub(crate) fn enter(state: &AtomicU8) {
    state.store(BUSY, Ordering::Relaxed);
    barrier_of_few();
}

/// Where a thread is led to that has entered an operation. Acquire pairs with the release in
/// [`lead_to`]: what was done while the world stood still is done.
#[inline(always)]
pub(crate) fn follow<T>(lead: &AtomicPtr<T>) -> *mut T {
    lead.load(Ordering::Acquire)
}

/// The mode, for a thread that has entered an operation. Acquire pairs with the release in [`open`], as
/// in [`follow`].
#[inline(always)]
pub(crate) fn look(mode: &AtomicU8) -> u8 {
    mode.load(Ordering::Acquire)
}

/// A thread leaves its operation. Release, so that whoever stops the world sees what it did.
#[inline(always)]
pub(crate) fn leave(state: &AtomicU8) {
    state.store(IDLE, Ordering::Release);
}

/// Somebody asks all threads to stop by setting `bits` and, in `mislead`, leading them by [`mislead`] to
/// where nothing can be done; then he waits until none [`is_inside`].
pub(crate) fn request(mode: &AtomicU8, bits: u8, mislead: impl FnOnce()) {
    // The barrier orders both before the loads of the states.
    mode.fetch_or(bits, Ordering::Relaxed);
    mislead();
    barrier_of_all();
}

/// See [`request`].
pub(crate) fn mislead<T>(lead: &AtomicPtr<T>, nowhere: *mut T) {
    lead.store(nowhere, Ordering::Relaxed);
}

/// Leads a thread to where its operations can be done. Only while no other may [`request`].
pub(crate) fn lead_to<T>(lead: &AtomicPtr<T>, place: *mut T) {
    lead.store(place, Ordering::Release);
}

/// Whether a thread is inside an operation. Acquire pairs with the release in [`leave`].
pub(crate) fn is_inside(state: &AtomicU8) -> bool {
    state.load(Ordering::Acquire) == BUSY
}

/// The world goes on: `bits` are taken back.
pub(crate) fn open(mode: &AtomicU8, bits: u8) {
    mode.fetch_and(!bits, Ordering::Release);
}
