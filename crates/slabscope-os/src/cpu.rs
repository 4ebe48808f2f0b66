//! The CPUs of the machine.

use crate::errno::ErrnoGuard;

/// How many CPUs are configured. Their numbers may have holes and may exceed the count.
pub fn count() -> usize {
    let _errno = ErrnoGuard::new();
    // SAFETY: sysconf takes a number.
    let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    usize::try_from(count).unwrap_or(1).max(1)
}

/// The CPU this thread runs on at this moment; any number when the kernel does not say.
#[inline]
pub fn current() -> usize {
    // SAFETY: sched_getcpu takes nothing. It sets errno only where the kernel lacks it.
    let cpu = unsafe { libc::sched_getcpu() };
    usize::try_from(cpu).unwrap_or(0)
}

/// Lets another thread run.
pub fn give_way() {
    // SAFETY: sched_yield takes nothing and does not fail.
    unsafe { libc::sched_yield() };
}
