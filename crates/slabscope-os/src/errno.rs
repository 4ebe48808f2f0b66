//! `errno` belongs to the program: what an allocation does inside must not change it.

/// Keeps `errno` for as long as it lives.
#[derive(Debug)]
pub struct ErrnoGuard {
    saved: i32,
}

impl ErrnoGuard {
    /// Remembers the thread's `errno`.
    #[expect(clippy::new_without_default, reason = "a default guard would hide what it does")]
    pub fn new() -> Self {
        ErrnoGuard { saved: get() }
    }
}

impl Drop for ErrnoGuard {
    fn drop(&mut self) {
        set(self.saved);
    }
}

/// The thread's `errno`.
pub fn get() -> i32 {
    // SAFETY: the location is the calling thread's own and lives as long as the thread.
    unsafe { *libc::__errno_location() }
}

fn set(value: i32) {
    // SAFETY: as in `get`; no reference to it exists, so the write races with nothing.
    unsafe { *libc::__errno_location() = value }
}
