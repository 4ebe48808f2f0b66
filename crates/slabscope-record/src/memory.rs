//! How much memory the recorder itself has: none of it is the program's.

use core::ops::Range;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicUsize, Ordering};

use slabscope_os::map;

/// Addresses, and the memory behind them, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Addresses that are mapped. They cost nothing before they are written to.
    pub mapped: usize,
    /// Memory behind them, in whole kernel pages.
    pub resident: usize,
}

/// The live file of a trace, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveFile {
    /// Its length, as a listing shows it.
    pub apparent: u64,
    /// What it takes of the disk, or of the memory where its file system is one of memory.
    pub allocated: u64,
}

/// The recorder's memory. Where there is a live file, rings and tables and a part of the drainer's
/// buffers are its pages, and count here as memory too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecorderMemory {
    /// What events wait in.
    pub rings: Extent,
    /// Threads, sites, and how far the drainer is.
    pub tables: Extent,
    /// The drainer's stack and buffers.
    pub drainer: Extent,
    /// Unwind tables made of the program's modules; none without `stacks`. They are made once, and stay
    /// when the trace has ended.
    pub unwind_tables: Extent,
    /// The live file, if there is one.
    pub live_file: Option<LiveFile>,
}

impl Extent {
    /// Of so many bytes from `start`.
    pub(crate) fn of(start: NonNull<u8>, len: usize) -> Extent {
        Extent { mapped: len, resident: map::resident(start, len) }
    }

    pub(crate) fn and(self, other: Extent) -> Extent {
        Extent { mapped: self.mapped + other.mapped, resident: self.resident + other.resident }
    }

    /// What is left of it without `other`.
    pub(crate) fn without(self, other: Extent) -> Extent {
        Extent {
            mapped: self.mapped.saturating_sub(other.mapped),
            resident: self.resident.saturating_sub(other.resident),
        }
    }
}

/// How many mappings can be known at a time; a session has some six.
const KNOWN_MAX: usize = 64;

/// Where the recorder's own mappings begin, 0 for none, and how long they are. Relaxed: it is for
/// figures only, and a mapping that comes or goes meanwhile may count or not.
static KNOWN: [(AtomicUsize, AtomicUsize); KNOWN_MAX] =
    [const { (AtomicUsize::new(0), AtomicUsize::new(0)) }; KNOWN_MAX];

/// Has a mapping count. One too many does not.
pub(crate) fn enter(range: Range<usize>) {
    for (start, len) in &KNOWN {
        if start.compare_exchange(0, range.start, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            return len.store(range.len(), Ordering::Relaxed);
        }
    }
}

/// The mapping at this address counts no more.
pub(crate) fn leave(address: usize) {
    for (start, len) in KNOWN.iter().filter(|known| known.0.load(Ordering::Relaxed) == address) {
        len.store(0, Ordering::Relaxed);
        start.store(0, Ordering::Relaxed);
    }
}

/// All mappings that were entered.
pub(crate) fn known() -> Extent {
    let extents = KNOWN.iter().filter_map(|(start, len)| {
        let start = NonNull::new(core::ptr::without_provenance_mut(start.load(Ordering::Relaxed)))?;
        Some(Extent::of(start, len.load(Ordering::Relaxed)))
    });
    extents.fold(Extent::default(), Extent::and)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapped::Mapped;

    #[test]
    fn a_mapping_counts_while_it_is_there_and_its_memory_when_it_is_written() {
        const LEN: usize = 1 << 20;
        let mut bytes = Mapped::<u8>::new(64 * LEN).unwrap();
        // Other tests have mappings too.
        assert!(known().mapped >= 64 * LEN);
        let counts = |address: usize| {
            let relaxed = |word: &AtomicUsize| word.load(Ordering::Relaxed);
            KNOWN.iter().find(|known| relaxed(&known.0) == address).map(|known| relaxed(&known.1))
        };
        assert_eq!(counts(bytes.as_ptr().addr()), Some(64 * LEN));
        let own = |bytes: &Mapped<u8>| {
            Extent::of(NonNull::new(bytes.as_ptr().cast_mut()).unwrap(), 64 * LEN).resident
        };
        assert_eq!(own(&bytes), 0);
        bytes.as_mut_slice()[..LEN].fill(1);
        assert!((LEN..=8 * LEN).contains(&own(&bytes)), "large pages at most");
        let address = bytes.as_ptr().addr();
        drop(bytes);
        // Another may lie there by now, which is not so long.
        assert_ne!(counts(address), Some(64 * LEN));
    }
}
