//! The process as a whole.

use crate::errno::ErrnoGuard;

/// The process id.
pub fn id() -> u64 {
    // SAFETY: getpid takes nothing and cannot fail.
    u64::from(unsafe { libc::getpid() }.unsigned_abs())
}

/// Has `function` run when the process exits by `exit` or a return from `main`.
///
/// May call the C allocator. `false` when there was no memory to remember it.
pub fn at_exit(function: extern "C" fn()) -> bool {
    let _errno = ErrnoGuard::new();
    // SAFETY: the function lives as long as the program.
    unsafe { libc::atexit(function) == 0 }
}
