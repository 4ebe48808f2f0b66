//! Sites with call stacks: a table that is only ever added to, each row a request and the number of a frame.
//!
//! A number is taken first and its row written afterwards. Whoever is interrupted in between leaves a
//! row that nobody knows of; nobody waits for it.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use slabscope_wire::live::link;

use crate::mapped::Mapped;

/// Sites with call stacks.
#[derive(Debug)]
pub(crate) struct Records {
    /// [`link::WORDS`] for each, from number 1 on. Relaxed: whoever has a number got it by an index's
    /// release and acquire, or from a ring, and so sees its row.
    words: Mapped<AtomicU32>,
    /// Numbers given out. Relaxed: it only hands out numbers.
    count: Mapped<AtomicU64>,
}

impl Records {
    pub(crate) fn new(words: Mapped<AtomicU32>, count: Mapped<AtomicU64>) -> Self {
        Records { words, count }
    }

    /// How many rows there can be.
    pub(crate) fn room(&self) -> usize {
        self.words.len() / link::WORDS
    }

    /// Adds a row; its number, from 1. `None` when the table is full, or `back` says that there is no
    /// memory for so many bytes of it.
    pub(crate) fn push(&self, value: u64, frame: u32, back: impl Fn(usize) -> bool) -> Option<u32> {
        let room = self.room() as u64;
        let taken = self
            .count
            .first()?
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| (n < room).then_some(n + 1));
        let index = taken.ok()? as usize;
        if !back((index + 1) * link::LEN) {
            return None;
        }
        for (word, value) in self.row(index)?.iter().zip(link::pack(value, frame)) {
            word.store(value, Ordering::Relaxed);
        }
        Some(index as u32 + 1)
    }

    /// The row with this number; `None` for 0 and numbers never given out.
    pub(crate) fn get(&self, number: u32) -> Option<(u64, u32)> {
        let index = (number as usize).checked_sub(1)?;
        let given = self.count.first()?.load(Ordering::Relaxed);
        let [low, high, frame] = self.row(index).filter(|_| (index as u64) < given)? else {
            return None;
        };
        Some(link::unpack([low, high, frame].map(|word| word.load(Ordering::Relaxed))))
    }

    fn row(&self, index: usize) -> Option<&[AtomicU32]> {
        let at = index.checked_mul(link::WORDS)?;
        self.words.get(at..at.checked_add(link::WORDS)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_numbered_from_1_until_there_is_no_room() {
        let records = Records::new(Mapped::new(30).unwrap(), Mapped::new(1).unwrap());
        assert_eq!(records.get(1), None);
        for n in 0..10 {
            let value = u64::from(n) << 40;
            assert_eq!(records.push(value, n, |len| len == (n as usize + 1) * 12), Some(n + 1));
            assert_eq!(records.get(n + 1), Some((value, n)));
        }
        assert_eq!(records.push(1, 1, |_| true), None);
        assert_eq!((records.get(0), records.get(11)), (None, None));
        let refused = Records::new(Mapped::new(30).unwrap(), Mapped::new(1).unwrap());
        assert_eq!(refused.push(1, 1, |_| false), None);
    }
}
