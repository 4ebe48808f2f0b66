//! Signals, kept away for a while.

use core::mem::MaybeUninit;
use core::ptr::null_mut;

use crate::errno::ErrnoGuard;

/// The calling thread gets no signals for as long as this lives; what is sent meanwhile comes then.
///
/// Faults of the thread's own and SIGKILL come at once. It is dropped by the thread that made it.
pub struct Blocked {
    before: libc::sigset_t,
}

impl core::fmt::Debug for Blocked {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Blocked")
    }
}

impl Blocked {
    /// Blocks all signals.
    #[expect(clippy::new_without_default, reason = "a default guard would hide what it does")]
    pub fn new() -> Self {
        let _errno = ErrnoGuard::new();
        let mut all = MaybeUninit::<libc::sigset_t>::uninit();
        let mut before = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: both sets are ours; the first is filled before it is read.
        unsafe {
            libc::sigemptyset(before.as_mut_ptr());
            libc::sigfillset(all.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
            Blocked { before: before.assume_init() }
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        let _errno = ErrnoGuard::new();
        // SAFETY: the set is what the thread had before.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, null_mut()) };
    }
}
