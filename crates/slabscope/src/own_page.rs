//! The words that say a trace is being made, on a page that the kernel empties in every child.
//!
//! A child shares the rings with its parent, whose drainer writes what it finds there. A fork's hooks
//! end that, but a bare `clone` and `_Fork` run no hooks. In their child these words are 0 from the
//! first instruction on: nothing is traced, the world goes on, and nobody need have noticed the fork.

use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32};

use slabscope_os::{KERNEL_PAGE, map};
use slabscope_record::Session;

/// See [`PAGE`].
#[derive(Debug)]
#[repr(C, align(4096))]
pub(crate) struct OwnPage {
    /// See `safepoint`.
    pub(crate) mode: AtomicU8,
    /// See `safepoint`.
    pub(crate) apart: AtomicU32,
    /// The trace that operations emit to. Written while the world is stopped.
    pub(crate) session: AtomicPtr<Session>,
}

const _: () = assert!(size_of::<OwnPage>() == KERNEL_PAGE);

/// The page. All zero at the start, so that it lies where the kernel can empty it.
pub(crate) static PAGE: OwnPage = OwnPage {
    mode: AtomicU8::new(0),
    apart: AtomicU32::new(0),
    session: AtomicPtr::new(null_mut()),
};

/// Has the kernel empty the page in children from now on. Kernels before 4.14 cannot; there only the
/// hooks of `fork` keep a child from the rings.
pub(crate) fn protect() {
    let page = NonNull::from(&PAGE).cast();
    // SAFETY: a static without a value lies in anonymous memory, and this one fills its page; a child
    // needs no more than zeros, which say that it makes no trace.
    let _ = unsafe { map::empty_in_children(page, KERNEL_PAGE) };
}
