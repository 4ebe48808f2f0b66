//! How much memory the allocator has, and what for.

pub use slabscope_heap::ClassUsage;
use slabscope_heap::Usage;
#[cfg(feature = "recorder")]
pub use slabscope_record::{Extent, LiveFile, RecorderMemory};

#[cfg(feature = "recorder")]
use crate::session;
use crate::{HEAP, fork, safepoint};

/// What the allocator has, all in bytes, at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    heap: Usage,
    #[cfg(feature = "recorder")]
    recorder: Option<RecorderMemory>,
}

/// Looks the whole heap over, exactly: every other thread waits meanwhile before it allocates or
/// frees. That takes some ten nanoseconds for each page of 8 KiB in use.
///
/// ```
/// # #[global_allocator]
/// # static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();
/// let before = slabscope::stats().live();
/// let object = vec![0_u8; 1 << 20];
/// assert!(slabscope::stats().live() >= before + object.len());
/// ```
pub fn stats() -> Stats {
    fork::register_caller();
    #[cfg(feature = "recorder")]
    let recorder = session::memory();
    let world = safepoint::stop();
    // SAFETY: the world is stopped, so nobody touches these caches (invariant 2 of `Thread`).
    let caches = world.threads().map(|thread| unsafe { &*thread.cache() });
    Stats {
        heap: HEAP.usage(caches),
        #[cfg(feature = "recorder")]
        recorder,
    }
}

impl Stats {
    #[cfg(feature = "recorder")]
    /// What the recorder has while a trace is made; `None` when none is. It is memory of its own and is
    /// in none of the other figures.
    pub fn recorder(&self) -> Option<RecorderMemory> {
        self.recorder
    }

    /// Addresses reserved. They cost nothing.
    pub fn reserved(&self) -> usize {
        self.heap.reserved
    }

    /// Addresses that may be used; memory is behind those that were written to.
    pub fn mapped(&self) -> usize {
        self.heap.mapped
    }

    /// Memory behind them, as far as the heap knows: what is in use, and free pages that keep their
    /// memory. A large object counts in full, though parts that were never written have none.
    pub fn resident(&self) -> usize {
        self.heap.mapped - self.heap.free + self.heap.free_resident
    }

    /// What the program has: whole slots of its small objects, whole pages of its large ones.
    pub fn live(&self) -> usize {
        self.heap.large_live + self.classes().map(|class| class.live).sum::<usize>()
    }

    /// Free, and kept for the next allocations of the same size, by each thread or for all.
    pub fn cached(&self) -> usize {
        self.heap.large_cached + self.classes().map(|class| class.cached).sum::<usize>()
    }

    /// Free pages; see [`Stats::resident`] for how many of them keep their memory.
    pub fn free(&self) -> usize {
        self.heap.free
    }

    /// Large objects, each with whole pages of its own, that the program has.
    pub fn large(&self) -> usize {
        self.heap.large_live
    }

    /// Stacks in use, and stacks kept for the next who asks.
    pub fn stacks(&self) -> (usize, usize) {
        (self.heap.stacks, self.heap.stacks_cached)
    }

    /// The share of the resident memory, from 0 to 1, that is neither live nor a stack in use.
    pub fn fragmentation(&self) -> f64 {
        let used = (self.live() + self.heap.stacks) as f64;
        if self.resident() == 0 { 0.0 } else { (1.0 - used / self.resident() as f64).max(0.0) }
    }

    /// The size classes that have a span, smallest first.
    pub fn classes(&self) -> impl Iterator<Item = ClassUsage> {
        self.heap.classes.iter().copied().filter(|class| class.spans > 0)
    }
}
