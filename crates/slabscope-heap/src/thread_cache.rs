//! Free slots of one thread, by size class: what makes most operations a few instructions.

use slabscope_wire::size_class::{COUNT, SizeClass};

use crate::slot::SlotList;

/// Bytes of one class that move between a cache and the central list at a time.
const BATCH_BYTES: usize = 32 << 10;

/// Bytes of one class that a cache keeps at most.
const KEPT_BYTES: usize = 256 << 10;

/// Slots of one class that a cache keeps at most, and at least may keep.
const KEPT: core::ops::RangeInclusive<usize> = 4..=1024;

/// Free slots of one class.
#[derive(Debug)]
pub(crate) struct Bin {
    pub(crate) slots: SlotList,
    /// How many it may keep. It begins at none and grows as the class is used, so that a thread
    /// which allocates little keeps little.
    limit: u32,
}

/// Free slots of one thread. The thread gives them back with [`Heap::flush`](crate::Heap::flush)
/// before the cache is dropped; else they stay allocated.
#[derive(Debug)]
pub struct ThreadCache {
    bins: [Bin; COUNT],
}

impl ThreadCache {
    /// An empty cache.
    #[expect(clippy::new_without_default, reason = "it is made for constants")]
    pub const fn new() -> Self {
        ThreadCache { bins: [const { Bin { slots: SlotList::new(), limit: 0 } }; COUNT] }
    }

    /// The slots of `class`.
    #[inline]
    pub(crate) fn bin(&mut self, class: SizeClass) -> &mut Bin {
        match self.bins.get_mut(class.index()) {
            Some(bin) => bin,
            // A class's number is below COUNT.
            None => slabscope_os::fatal(&["a size class beyond the table"]),
        }
    }

    /// All free slots in it.
    pub(crate) fn slots(&self) -> impl Iterator<Item = *mut u8> {
        self.bins.iter().flat_map(|bin| bin.slots.iter())
    }
}

/// Slots that move at a time.
fn batch(class: SizeClass) -> u32 {
    (BATCH_BYTES / class.slot_size().max(1)).clamp(2, 128) as u32
}

/// Slots kept at most.
fn kept(class: SizeClass) -> u32 {
    (KEPT_BYTES / class.slot_size().max(1)).clamp(*KEPT.start(), *KEPT.end()) as u32
}

impl Bin {
    /// Whether it has as many as it may keep, or more.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.slots.len() >= self.limit
    }

    /// It has run out: how many to get.
    pub(crate) fn want(&mut self, class: SizeClass) -> u32 {
        let want = self.limit.clamp(1, batch(class));
        self.limit = (self.limit + want).min(kept(class));
        want
    }

    /// It is full: how many to give back, none while it may still grow.
    pub(crate) fn excess(&mut self, class: SizeClass) -> u32 {
        if self.limit < kept(class) {
            self.limit = (self.limit + batch(class)).min(kept(class));
            return 0;
        }
        batch(class).min(self.slots.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_grows_with_its_use_and_stops() {
        for class in SizeClass::all() {
            let mut bin = Bin { slots: SlotList::new(), limit: 0 };
            assert!(bin.is_full());
            assert_eq!(bin.want(class), 1, "the first is alone");
            for _ in 0..1000 {
                assert!(bin.want(class) <= batch(class));
            }
            assert_eq!(bin.limit, kept(class));
            assert!(batch(class) <= kept(class), "a full bin has a batch to give");
        }
    }
}
