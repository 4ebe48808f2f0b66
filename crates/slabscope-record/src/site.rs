//! Sites: what an allocation asked for, interned.
//!
//! A site is size and alignment, and the type where the program declares one; its number travels with each event in place of a type,
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
    /// The number of the declared type's name; 0 where none was.
    pub declared: u16,
}

impl SiteTable {
    /// An empty table in this zeroed memory, [`SLOTS`] words of it.
    pub(crate) fn new(keys: Mapped<AtomicU64>) -> Self {
        SiteTable { keys }
    }

    /// The number of the site, from 1; 0, which means unknown, when there is no room for it.
    #[inline]
    pub fn intern(&self, size: usize, align: usize, declared: u16) -> u32 {
        let key = site::pack(size as u64, align as u64, declared);
        // Small sizes have small numbers, which are short in the trace: the lowest bits of a size, 0 where
        // it is a multiple of its alignment, say which alignment that is. The higher bits spread those
        // that are multiples of the table's length.
        let home = size
            ^ (size >> 20).wrapping_mul(0x9e37)
            ^ align.wrapping_sub(1)
            ^ usize::from(declared).wrapping_mul(0x9e35);
        let slot = home & (SLOTS - 1);
        match self.keys.get(slot) {
            Some(entry) if entry.load(Ordering::Relaxed) == key => slot as u32 + 1,
            _ => self.intern_slow(home, key),
        }
    }

    #[inline(never)]
    fn intern_slow(&self, home: usize, key: u64) -> u32 {
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
        Site::of_request(key)
    }
}

impl Site {
    /// What a word of [`site`] says.
    pub(crate) fn of_request(word: u64) -> Option<Site> {
        let (size, align, declared) = site::unpack(word)?;
        Some(Site { size, align, declared })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_has_one_number_and_gives_it_back() {
        let table = SiteTable::new(Mapped::new(SLOTS).unwrap());
        let triples = [
            (1, 1, 0),
            (8, 8, 0),
            (8, 16, 0),
            (8, 8, 1),
            (8, 8, u16::MAX),
            (1 << 20, 8, 0),
            (1 << 21, 8, 0),
            (3 << 36, 4096, 9),
            (0, 1, 0),
        ];
        let numbers = triples.map(|(size, align, of)| table.intern(size, align, of));
        for (index, &(size, align, declared)) in triples.iter().enumerate() {
            assert_eq!(table.intern(size, align, declared), numbers[index]);
            assert_eq!(numbers.iter().filter(|&&n| n == numbers[index]).count(), 1);
            let site = table.get(numbers[index]);
            let (size, align) = (size as u64, align as u64);
            assert_eq!(site, Some(Site { size, align, declared }));
        }
        assert_eq!(table.get(0), None);
        assert_eq!(table.get(5), None);
    }

    #[test]
    fn small_requests_have_numbers_that_are_short_in_a_trace() {
        let table = SiteTable::new(Mapped::new(SLOTS).unwrap());
        for align in [1, 2, 4, 8, 16] {
            for size in (align..16_000).step_by(align) {
                let number = u64::from(table.intern(size, align, 0));
                let len = if size <= 64 { 1 } else { 2 };
                assert!(number < 1 << (7 * len), "{size} at {align}: {number}");
            }
        }
    }

    #[test]
    fn a_crowded_place_refuses_and_does_not_hang() {
        let table = SiteTable::new(Mapped::new(SLOTS).unwrap());
        // Each type with the one size that belongs where the first of them does.
        let size = |declared: u16| usize::from(declared).wrapping_mul(0x9e35) & (SLOTS - 1);
        let refused = (0..1000).filter(|&of| table.intern(size(of), 8, of) == 0).count();
        assert_eq!(refused, 1000 - PROBES);
    }
}
