//! Signals, kept away for a while.

use core::mem::MaybeUninit;
use core::ptr::null_mut;

use crate::errno::ErrnoGuard;

/// The stack of signal handlers that the calling thread stands on, if it does: its lowest address and
/// the one after its end.
pub fn stack_in_use() -> Option<(usize, usize)> {
    let _errno = ErrnoGuard::new();
    let mut stack = MaybeUninit::<libc::stack_t>::uninit();
    // SAFETY: the call fills the structure, or fails and it is not read.
    let stack = unsafe {
        if libc::sigaltstack(core::ptr::null(), stack.as_mut_ptr()) != 0 {
            return None;
        }
        stack.assume_init()
    };
    let start = stack.ss_sp.addr();
    (stack.ss_flags & libc::SS_ONSTACK != 0).then_some((start, start.checked_add(stack.ss_size)?))
}

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
