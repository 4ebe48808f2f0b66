//! Keys by number, in the order they were met.

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;

/// How many answers are remembered. What an event asks for was asked for shortly before, most often.
const RECENT: usize = 512;

/// Numbers of keys; each key has one from the first question on.
#[derive(Debug)]
pub(super) struct Numbers<K> {
    all: HashMap<K, u32, RandomState>,
    recent: Box<[Option<(K, u32)>; RECENT]>,
}

impl<K: Copy + Eq + Hash> Default for Numbers<K> {
    fn default() -> Self {
        Numbers { all: HashMap::default(), recent: Box::new([None; RECENT]) }
    }
}

impl<K: Copy + Eq + Hash> Numbers<K> {
    /// The numbers of these keys, which they have by their order.
    pub(super) fn known(keys: impl Iterator<Item = K>) -> Numbers<K> {
        Numbers { all: keys.zip(0..).collect(), ..Numbers::default() }
    }

    /// The number of `key`; if it has none, that is `next`, which is for the caller to see. `hint` is
    /// any number that most keys differ in.
    #[inline]
    pub(super) fn of(&mut self, key: K, hint: u32, next: usize) -> u32 {
        let place = hint.wrapping_mul(0x9e37_79b1) >> (u32::BITS - RECENT.ilog2());
        let recent = &mut self.recent[place as usize % RECENT];
        match recent {
            Some((known, number)) if *known == key => *number,
            _ => {
                let next = u32::try_from(next).unwrap_or(u32::MAX);
                let number = *self.all.entry(key).or_insert(next);
                *recent = Some((key, number));
                number
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_keeps_its_number() {
        let mut numbers = Numbers::default();
        for key in 0..2_000_u64 {
            assert_eq!(numbers.of(key, key as u32 % 7, key as usize), key as u32);
        }
        for key in 0..2_000_u64 {
            assert_eq!(numbers.of(key, key as u32 % 7, 9_999), key as u32);
        }
    }
}
