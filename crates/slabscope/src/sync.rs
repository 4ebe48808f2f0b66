//! What `protocol` is made of: models put others in their place.

pub(crate) use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, Ordering};

use core::sync::atomic::compiler_fence;

use slabscope_os::barrier;

/// The frequent side's part of a barrier: only the compiler must keep the order.
#[inline(always)]
pub(crate) fn barrier_of_few() {
    compiler_fence(Ordering::SeqCst);
}

/// The rare side's part, which is one on every CPU.
pub(crate) fn barrier_of_all() {
    barrier::process();
}
