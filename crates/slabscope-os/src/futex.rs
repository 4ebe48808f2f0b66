//! Waiting for a word to change, without libc's locks.

use core::sync::atomic::AtomicU32;
use core::time::Duration;

use crate::errno::ErrnoGuard;

/// Sleeps while `word` is `expected`, until [`wake`] or for `timeout` at most.
///
/// May return early for no reason; the caller checks its condition again.
pub fn wait(word: &AtomicU32, expected: u32, timeout: Duration) {
    let _errno = ErrnoGuard::new();
    let timeout = libc::timespec {
        tv_sec: timeout.as_secs() as libc::time_t,
        tv_nsec: timeout.subsec_nanos() as libc::c_long,
    };
    // SAFETY: `word` and `timeout` outlive the call; FUTEX_WAIT only reads them.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            expected,
            &raw const timeout,
        );
    }
}

/// Wakes up to `count` threads that [`wait`] on `word`.
pub fn wake(word: &AtomicU32, count: i32) {
    let _errno = ErrnoGuard::new();
    // SAFETY: FUTEX_WAKE reads no memory, the address is only a key.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            count,
        );
    }
}
