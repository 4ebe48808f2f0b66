//! The safepoint's words: who stores and loads what, in which order.
//!
//! Apart from all else, so that a model runs this very file through all interleavings
//! (`models/tests/safepoint/main.rs`).

use super::sync::{AtomicPtr, AtomicU8, AtomicU32, Ordering, barrier_of_all, barrier_of_few};

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

/// An operation begins apart: its thread may be IDLE, or BUSY for no longer than it takes to find that the
/// world stands still. `false`, and it must wait, if a mode that it finds is one that `bars` it.
///
/// Both this and [`stand_still`] change one word and then read the other, each in one step, so either the
/// operation is found or it finds that the world stands still.
pub(crate) fn go_apart(mode: &AtomicU8, apart: &AtomicU32, bars: impl FnOnce(u8) -> bool) -> bool {
    apart.fetch_add(1, Ordering::AcqRel);
    let goes = !bars(mode.fetch_or(0, Ordering::AcqRel));
    if !goes {
        come_back(apart);
    }
    goes
}

/// The end of what [`go_apart`] began.
pub(crate) fn come_back(apart: &AtomicU32) {
    apart.fetch_sub(1, Ordering::AcqRel);
}

/// Nobody is inside an operation: from now on nobody begins one apart who finds `bits`. Whoever stops the
/// world then waits until [`is_nobody_apart`].
pub(crate) fn stand_still(mode: &AtomicU8, bits: u8) {
    mode.fetch_or(bits, Ordering::AcqRel);
}

/// Whether no operation is under way apart.
pub(crate) fn is_nobody_apart(apart: &AtomicU32) -> bool {
    apart.fetch_or(0, Ordering::AcqRel) == 0
}

/// The world goes on: `bits` are taken back.
pub(crate) fn open(mode: &AtomicU8, bits: u8) {
    mode.fetch_and(!bits, Ordering::Release);
}
