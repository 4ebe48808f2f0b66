//! The allocator's protocol with loom's atomics.

pub(crate) mod sync {
    pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, Ordering};

    pub(crate) fn barrier_of_few() {
        loom::sync::atomic::fence(Ordering::SeqCst);
    }

    pub(crate) fn barrier_of_all() {
        loom::sync::atomic::fence(Ordering::SeqCst);
    }
}

#[path = "../../../crates/slabscope/src/protocol.rs"]
pub(crate) mod protocol;
