//! From hashes to numbers, for any thread at any moment: without a lock, and growing.
//!
//! Open addressing in levels, each twice as large as the one before and behind it in one range of
//! addresses. New hashes are entered in the last level; when that is filled, the next one is begun.
//! Nothing is moved then: who does not find a hash looks through the levels before, and enters it in
//! the last one too. So growing costs nobody more than a second look.

use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::mapped::{Mapped, Zeroed};

/// Words of the first level. Each level before the last is a second look for what is new.
const LEN_MIN: usize = 1 << 18;

/// How far a search goes from where a hash belongs, which may be into the next level.
const PROBES: usize = 64;

/// A word of an index: `[high bits of a hash | number]`, 0 while it is free.
pub(crate) trait Word: Zeroed {
    /// Bits of the number.
    const NUMBER_BITS: u32;
    /// Acquire: who finds a number sees what was written before it was entered.
    fn load(&self) -> u64;
    /// Enters a word, if it is free; else what stands there, as [`Word::load`].
    fn fill(&self, word: u64) -> Result<(), u64>;
    /// The word of a number.
    fn pack(hash: u64, number: u32) -> u64;
}

/// 40 bits of the hash: numbers need not be looked at.
impl Word for AtomicU64 {
    const NUMBER_BITS: u32 = 24;

    #[inline(always)]
    fn load(&self) -> u64 {
        self.load(Ordering::Acquire)
    }

    #[inline(always)]
    fn fill(&self, word: u64) -> Result<(), u64> {
        self.compare_exchange(0, word, Ordering::Release, Ordering::Acquire).map(|_| ())
    }

    #[inline(always)]
    fn pack(hash: u64, number: u32) -> u64 {
        hash >> Self::NUMBER_BITS << Self::NUMBER_BITS | u64::from(number)
    }
}

/// 10 bits of the hash: few numbers are looked at in vain.
impl Word for AtomicU32 {
    const NUMBER_BITS: u32 = 22;

    #[inline(always)]
    fn load(&self) -> u64 {
        self.load(Ordering::Acquire).into()
    }

    #[inline(always)]
    fn fill(&self, word: u64) -> Result<(), u64> {
        let filled = self.compare_exchange(0, word as u32, Ordering::Release, Ordering::Acquire);
        filled.map(|_| ()).map_err(u64::from)
    }

    #[inline(always)]
    fn pack(hash: u64, number: u32) -> u64 {
        hash >> 54 << Self::NUMBER_BITS | u64::from(number)
    }
}

/// Numbers by the hash of what they stand for.
#[derive(Debug)]
pub(crate) struct Index<W: Word> {
    /// Each written once.
    words: Mapped<W>,
    /// Words of the last level, less one. Relaxed: an old one costs a second look.
    mask: AtomicUsize,
    /// Words that are not free.
    used: AtomicUsize,
}

impl<W: Word> Index<W> {
    /// For so many numbers; `None` without address space.
    pub(crate) fn new(numbers: usize) -> Option<Self> {
        // Levels fill to five eighths, and a number may stand in two of them.
        let last = (2 * numbers).next_power_of_two().max(LEN_MIN);
        let words: Mapped<W> = Mapped::new(end_of(last - 1) + PROBES)?;
        Some(Index { words, mask: AtomicUsize::new(LEN_MIN - 1), used: AtomicUsize::new(0) })
    }

    /// Asks for large kernel pages: for one that becomes large.
    pub(crate) fn advise_large_pages(&self) {
        self.words.advise_large_pages();
    }

    /// The number entered under this hash, of which `is` says that it is the right one.
    #[inline]
    pub(crate) fn find(&self, hash: u64, is: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.mask.load(Ordering::Relaxed);
        self.find_under(mask, hash, &is).or_else(|| self.find_below(mask, hash, &is))
    }

    #[inline(always)]
    fn find_under(&self, mask: usize, hash: u64, is: &impl Fn(u32) -> bool) -> Option<u32> {
        let home = home(hash, mask);
        for word in self.words.get(home..home + PROBES)? {
            let word = word.load();
            if word == 0 {
                return None;
            }
            if let Some(number) = Self::number(word, hash)
                && is(number)
            {
                return Some(number);
            }
        }
        None
    }

    /// Looks through the levels before.
    #[cold]
    fn find_below(&self, mask: usize, hash: u64, is: &impl Fn(u32) -> bool) -> Option<u32> {
        let mut below = mask >> 1;
        while below >= LEN_MIN - 1 {
            if let Some(number) = self.find_under(below, hash, is) {
                self.insert(hash, number, is);
                return Some(number);
            }
            below >>= 1;
        }
        None
    }

    /// Enters a number; the one that is found under this hash from now on, which is another's if he
    /// was first.
    pub(crate) fn insert(&self, hash: u64, number: u32, is: impl Fn(u32) -> bool) -> u32 {
        loop {
            let mask = self.mask.load(Ordering::Relaxed);
            if let Some(entered) = self.insert_under(mask, hash, number, &is) {
                return entered;
            }
            // Crowded there. At its largest the index leaves it out; it is entered again next time.
            if !self.grow(mask) {
                return number;
            }
        }
    }

    fn insert_under(
        &self,
        mask: usize,
        hash: u64,
        number: u32,
        is: &impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let home = home(hash, mask);
        let new = W::pack(hash, number);
        for word in self.words.get(home..home + PROBES)? {
            match word.fill(new) {
                Ok(()) => {
                    let used = self.used.fetch_add(1, Ordering::Relaxed);
                    if used > end_of(mask) / 8 * 5 {
                        self.grow(mask);
                    }
                    return Some(number);
                }
                // What another entered may be what we look for.
                Err(found) => {
                    if let Some(other) = Self::number(found, hash)
                        && is(other)
                    {
                        return Some(other);
                    }
                }
            }
        }
        None
    }

    /// The number in a word, if that is of this hash.
    #[inline(always)]
    fn number(word: u64, hash: u64) -> Option<u32> {
        let number = word as u32 & ((1 << W::NUMBER_BITS) - 1);
        (W::pack(hash, number) == word).then_some(number)
    }

    /// Begins the next level; `false` when this is the last there can be.
    fn grow(&self, mask: usize) -> bool {
        let larger = mask << 1 | 1;
        if end_of(larger) + PROBES > self.words.len() {
            return false;
        }
        // Whoever else did it first did the same.
        let _ = self.mask.compare_exchange(mask, larger, Ordering::Relaxed, Ordering::Relaxed);
        true
    }
}

/// Where the level with this mask ends: the levels before it are as long as it is, less the first.
const fn end_of(mask: usize) -> usize {
    2 * (mask + 1) - LEN_MIN
}

/// Where a hash belongs in the level with this mask.
#[inline(always)]
const fn home(hash: u64, mask: usize) -> usize {
    mask + 1 - LEN_MIN + (hash as usize & mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spreads a number over 64 bits.
    fn hash(n: u32) -> u64 {
        let n = (u64::from(n) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (n ^ n >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
    }

    /// Where a number is looked at, it is the one that was entered under its hash.
    fn find_all<W: Word>() {
        let index: Index<W> = Index::new(1 << 20).unwrap();
        for n in 1..700_000 {
            assert_eq!(index.find(hash(n), |found| found == n), None);
            assert_eq!(index.insert(hash(n), n, |found| found == n), n);
        }
        assert!(index.mask.load(Ordering::Relaxed) > LEN_MIN * 2);
        for round in 0..3 {
            for n in 1..700_000 {
                assert_eq!(index.find(hash(n), |found| found == n), Some(n), "{round}");
            }
        }
        assert_eq!(index.find(hash(5), |_| false), None);
    }

    #[test]
    fn what_was_entered_is_found_however_much_the_index_grew_since() {
        find_all::<AtomicU32>();
        find_all::<AtomicU64>();
    }

    #[test]
    fn numbers_of_long_words_need_not_be_looked_at() {
        let index: Index<AtomicU64> = Index::new(1 << 18).unwrap();
        for n in 1..250_000 {
            assert_eq!(index.find(hash(n), |_| true), None);
            assert_eq!(index.insert(hash(n), n, |_| true), n);
        }
        assert_eq!(index.find(hash(5), |_| true), Some(5));
        assert_eq!(index.insert(hash(5), 6, |_| true), 5, "who was first counts");
        assert_eq!(index.find(hash(300_000), |_| true), None);
    }

    #[test]
    fn hashes_that_are_alike_find_an_end() {
        let index: Index<AtomicU64> = Index::new(1 << 14).unwrap();
        for n in 1..10_000_u32 {
            index.insert(u64::from(n) << 40 | 7, n, |_| true);
        }
        assert_eq!(index.find(1 << 40 | 7, |_| true), Some(1));
    }
}
