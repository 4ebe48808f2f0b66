//! Sites: what an allocation asked for, interned.
//!
//! A site is a pair of size and alignment; its number travels with each event in place of a type,
//! so a reader knows the requested size as well as the slot's. A lock-free table of open
//! addressing: a key is written once, by compare-and-swap, and never changes.

use core::sync::atomic::{AtomicU64, Ordering};

use slabscope_wire::live::site;

use crate::mapped::Mapped;

/// Slots of the table; a power of two, and all numbers fit an event word.
pub(crate) const SLOTS: usize = 1 << 20;

/// How far a search goes from where a key belongs before the table counts as full there.
const PROBES: usize = 128;

const _: () = assert!(SLOTS as u64 <= slabscope_wire::live::word::SITE_MAX as u64);

/// The sites of one trace.
#[derive(Debug)]
pub struct SiteTable {
    /// Sites as words, 0 for a free slot. Written once, relaxed: the word is all there is to publish.
    keys: Mapped<AtomicU64>,
}

/// What a site's number stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Requested size in bytes.
    pub size: u64,
    /// Requested alignment in bytes.
    pub align: u64,
}

impl SiteTable {
    /// An empty table in this zeroed memory, [`SLOTS`] words of it.
    pub(crate) fn new(keys: Mapped<AtomicU64>) -> Self {
        SiteTable { keys }
    }

    /// The number of the site, from 1; 0, which means unknown, when there is no room for it.
    #[inline]
    pub fn intern(&self, size: usize, align: usize) -> u32 {
        let key = site::pack(size as u64, align as u64);
        // Sizes near each other share a page of the table, since a program uses few and small ones;
        // the higher bits spread those that are multiples of the table's length.
        let home =
            size ^ (size >> 20).wrapping_mul(0x9e37) ^ ((align.trailing_zeros() as usize) << 14);
        for probe in 0..PROBES {
            let slot = (home + probe) & (SLOTS - 1);
            let Some(entry) = self.keys.get(slot) else { break };
            let mut found = entry.load(Ordering::Relaxed);
            if found == 0 {
                found = match entry.compare_exchange(0, key, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => key,
                    Err(other) => other,
                };
            }
            if found == key {
                return slot as u32 + 1;
            }
        }
        0
    }

    /// What `number` stands for; `None` for 0 and numbers never given out.
    pub fn get(&self, number: u32) -> Option<Site> {
        let key = self.keys.get((number as usize).checked_sub(1)?)?.load(Ordering::Relaxed);
        let (size, align) = site::unpack(key)?;
        Some(Site { size, align })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_has_one_number_and_gives_it_back() {
        let table = SiteTable::new(Mapped::new(SLOTS).unwrap());
        let pairs = [(1, 1), (8, 8), (8, 16), (1 << 20, 8), (1 << 21, 8), (3 << 40, 4096), (0, 1)];
        let numbers: [u32; 7] = pairs.map(|(size, align)| table.intern(size, align));
        for (index, &(size, align)) in pairs.iter().enumerate() {
            assert_eq!(table.intern(size, align), numbers[index]);
            assert_eq!(numbers.iter().filter(|&&n| n == numbers[index]).count(), 1);
            let site = table.get(numbers[index]);
            assert_eq!(site, Some(Site { size: size as u64, align: align as u64 }));
        }
        assert_eq!(table.get(0), None);
        assert_eq!(table.get(5), None);
    }

    #[test]
    fn a_crowded_place_refuses_and_does_not_hang() {
        let table = SiteTable::new(Mapped::new(SLOTS).unwrap());
        let home = 1 << 10;
        // Multiples of 2^56 / 2^20 differ only in bits that the hash folds to the same place.
        let refused = (0..100_000_usize).filter(|n| table.intern(home + (n << 36), 8) == 0).count();
        let given = 100_000 - refused;
        assert!(given >= PROBES.min(100_000), "{given}");
    }
}
