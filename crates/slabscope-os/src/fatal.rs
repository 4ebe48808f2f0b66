//! The end of the program, when its heap is found broken.

/// Says what is wrong on stderr and aborts.
///
/// Neither unwinds nor allocates, so it may be called from the middle of an allocation.
#[cold]
pub fn fatal(parts: &[&str]) -> ! {
    crate::say::line(parts);
    // SAFETY: abort has no precondition.
    unsafe { libc::abort() }
}
