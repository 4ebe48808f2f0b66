//! Which rows of a table the current generation has.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::mapped::Mapped;

/// A bit for each number.
#[derive(Debug)]
pub(super) struct Marks {
    /// Atomic only to be mapped.
    words: Mapped<AtomicU64>,
    /// Words from here on are zero.
    end: usize,
}

impl Marks {
    /// No marks, for numbers below `numbers`; `None` without address space.
    pub(super) fn new(numbers: usize) -> Option<Self> {
        Some(Marks { words: Mapped::new(numbers.div_ceil(64))?, end: 0 })
    }

    /// Marks a number; whether it had no mark. One that is too large counts as marked.
    #[inline]
    pub(super) fn mark(&mut self, number: u32) -> bool {
        let (index, bit) = (number as usize / 64, 1 << (number % 64));
        let Some(word) = self.words.get(index) else { return false };
        let before = word.load(Ordering::Relaxed);
        if before & bit != 0 {
            return false;
        }
        word.store(before | bit, Ordering::Relaxed);
        self.end = self.end.max(index + 1);
        true
    }

    /// Takes all marks away.
    pub(super) fn clear(&mut self) {
        for word in self.words.iter().take(self.end) {
            word.store(0, Ordering::Relaxed);
        }
        self.end = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_marked_once_until_all_are_cleared() {
        let mut marks = Marks::new(1000).unwrap();
        for round in 0..3 {
            for number in [0, 1, 63, 64, 999] {
                assert!(marks.mark(number), "{round}");
                assert!(!marks.mark(number));
            }
            assert!(!marks.mark(5000));
            marks.clear();
        }
    }
}
