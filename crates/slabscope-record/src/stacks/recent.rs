//! Numbers that were looked up of late, in memory that stays close to the CPU.
//!
//! The index of a large program is several megabytes, and each look into it waits for main memory;
//! most allocations come from few places.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::mapped::Mapped;

/// Words, as a power of two: half a mebibyte, so that the second level of a cache keeps most of them.
const BITS: u32 = 16;

const NUMBER_BITS: u32 = 24;

/// See the module.
#[derive(Debug)]
pub(crate) struct Recent {
    /// `[hash, high bits : 40 | number : 24]`, 0 for nothing; the place is the hash's low bits. Relaxed:
    /// the word is all there is, since a site's row is not looked at by whom its number is for.
    words: Mapped<AtomicU64>,
}

impl Recent {
    /// An empty one; `None` without memory.
    pub(crate) fn new() -> Option<Self> {
        Some(Recent { words: Mapped::new(1 << BITS)? })
    }

    #[inline(always)]
    fn word(&self, hash: u64) -> Option<&AtomicU64> {
        self.words.get(hash as usize & ((1 << BITS) - 1))
    }

    /// The number that was kept under this hash, if it still is.
    #[inline(always)]
    pub(crate) fn find(&self, hash: u64) -> Option<u32> {
        let word = self.word(hash)?.load(Ordering::Relaxed);
        let number = word as u32 & ((1 << NUMBER_BITS) - 1);
        (number != 0 && (word ^ hash) >> NUMBER_BITS == 0).then_some(number)
    }

    /// Keeps a number, in place of another.
    #[inline(always)]
    pub(crate) fn keep(&self, hash: u64, number: u32) {
        if let Some(word) = self.word(hash) {
            word.store(hash >> NUMBER_BITS << NUMBER_BITS | u64::from(number), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_kept_at_a_place_is_found_and_no_other() {
        let recent = Recent::new().unwrap();
        let (a, b) = (0xabcd_0000_0001_2345, 0x1234_0000_0001_2345);
        assert_eq!(recent.find(a), None);
        recent.keep(a, 7);
        assert_eq!((recent.find(a), recent.find(b)), (Some(7), None));
        recent.keep(b, 8);
        assert_eq!((recent.find(a), recent.find(b)), (None, Some(8)));
    }
}
