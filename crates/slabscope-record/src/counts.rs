//! Counting the nine events.

use core::sync::atomic::{AtomicU64, Ordering};

pub use slabscope_wire::alloc_free::{EventKind, KINDS};

/// One counter for each kind.
///
/// Relaxed throughout: they are read for good only once those who count have stopped, which the
/// safepoint orders; before that they are a live figure.
#[derive(Debug, Default)]
pub struct Counts([AtomicU64; 9]);

impl Counts {
    /// All zero.
    pub const fn new() -> Self {
        Counts([const { AtomicU64::new(0) }; 9])
    }

    /// Adds `n`, whoever else does the same.
    pub fn add(&self, kind: EventKind, n: u64) {
        if let Some(count) = self.0.get(kind as usize) {
            count.fetch_add(n, Ordering::Relaxed);
        }
    }

    /// The count of one kind.
    pub fn get(&self, kind: EventKind) -> u64 {
        self.0.get(kind as usize).map_or(0, |count| count.load(Ordering::Relaxed))
    }
}
