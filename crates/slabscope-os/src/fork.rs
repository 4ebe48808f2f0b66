//! Being told of `fork`.

use crate::errno::ErrnoGuard;

/// Has `prepare` run before each fork, then `parent` and `child` after it on either side.
///
/// May call the C allocator. `false` when there was no memory to remember it.
pub fn at_fork(
    prepare: unsafe extern "C" fn(),
    parent: unsafe extern "C" fn(),
    child: unsafe extern "C" fn(),
) -> bool {
    let _errno = ErrnoGuard::new();
    // SAFETY: the three functions live as long as the program.
    unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) == 0 }
}
