//! Hints about how memory will be used. The kernel may ignore them, and nothing depends on them.

use core::ptr::NonNull;

use crate::errno::ErrnoGuard;

/// Asks that a range be backed by large kernel pages where they fit, at the first touch.
///
/// # Safety
/// The range lies inside an anonymous mapping the caller owns.
pub unsafe fn large_pages(address: NonNull<u8>, len: usize) {
    // SAFETY: passed on to the caller; contents and access stay as they are.
    unsafe { advise(address, len, libc::MADV_HUGEPAGE) };
}

/// Asks that a range be backed by memory now, in one go instead of a fault for each page.
///
/// # Safety
/// The range lies inside an anonymous mapping the caller owns and may write to.
pub unsafe fn populate(address: NonNull<u8>, len: usize) {
    // SAFETY: passed on to the caller; contents and access stay as they are.
    unsafe { advise(address, len, libc::MADV_POPULATE_WRITE) };
}

/// # Safety
/// The range is the caller's, and the advice leaves its contents as they are.
unsafe fn advise(address: NonNull<u8>, len: usize, advice: i32) {
    let _errno = ErrnoGuard::new();
    // SAFETY: passed on to the caller.
    unsafe { libc::madvise(address.as_ptr().cast(), len, advice) };
}
