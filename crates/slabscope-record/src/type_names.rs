//! The names of declared types, interned.
//!
//! A name is written once, into units of its own, and an index finds it by its bytes. Whoever is
//! interrupted before he has entered it leaves units that nobody knows of; two threads may write one name
//! twice, and both use the one that was entered first. The layout is `slabscope_wire::live::name`.

use core::sync::atomic::{AtomicU64, Ordering};

use slabscope_wire::live::name::{LEN_MAX, UNIT, UNITS, WORDS, units};

use crate::hash::{ODD, SEED, fold};
use crate::index::Index;
use crate::mapped::Mapped;

/// The names of one trace.
#[derive(Debug)]
pub(crate) struct TypeNames {
    /// [`UNITS`] units. The bytes are relaxed; the length is released after them.
    words: Mapped<AtomicU64>,
    /// Units given out. Relaxed: it only hands out numbers.
    used: Mapped<AtomicU64>,
    index: Index<AtomicU64>,
    /// Events whose type was declared and has no number, for lack of room.
    without: AtomicU64,
}

impl TypeNames {
    /// No names yet, in this zeroed memory; `None` without address space for the index.
    pub(crate) fn new(words: Mapped<AtomicU64>, used: Mapped<AtomicU64>) -> Option<Self> {
        Some(TypeNames { words, used, index: Index::new(UNITS)?, without: AtomicU64::new(0) })
    }

    /// The number of a name of [`LEN_MAX`] bytes at most; 0, and counted, when there is no room for it.
    /// `back` says whether there is memory for so many bytes of the units.
    pub(crate) fn intern(&self, name: &[u8], back: impl Fn(usize) -> bool) -> u16 {
        let hash = hash(name);
        let is = |number| self.is(number, name);
        let found = self.index.find(hash, is);
        let entered =
            found.or_else(|| Some(self.index.insert(hash, self.push(name, back)?.into(), is)));
        let number = entered.and_then(|number| u16::try_from(number).ok());
        number.unwrap_or_else(|| {
            self.without.fetch_add(1, Ordering::Relaxed);
            0
        })
    }

    /// Copies the name with this number; `None` for 0 and numbers never given out.
    pub(crate) fn get<'a>(&self, number: u16, to: &'a mut [u8; LEN_MAX]) -> Option<&'a [u8]> {
        let (len, words) = self.at(number)?;
        for (bytes, word) in to.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *bytes = word.load(Ordering::Relaxed).to_le_bytes();
        }
        to.get(..len)
    }

    /// Events so far whose type is not known for lack of room.
    pub(crate) fn without(&self) -> u64 {
        self.without.load(Ordering::Relaxed)
    }

    fn push(&self, name: &[u8], back: impl Fn(usize) -> bool) -> Option<u16> {
        if name.is_empty() || name.len() > LEN_MAX {
            return None;
        }
        let needed = units(name.len()) as u64;
        let take = |used: u64| Some(used + needed).filter(|&used| used < UNITS as u64);
        let used =
            self.used.first()?.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        // Behind unit 0.
        let number = used as usize + 1;
        if !back((number + needed as usize) * UNIT) {
            return None;
        }
        let (len, words) = self.words.get(number * WORDS..)?.split_first()?;
        for (word, chunk) in words.iter().zip(name.chunks(8)) {
            word.store(word_of(chunk), Ordering::Relaxed);
        }
        len.store(name.len() as u64, Ordering::Release);
        u16::try_from(number).ok()
    }

    fn is(&self, number: u32, name: &[u8]) -> bool {
        let found = u16::try_from(number).ok().and_then(|number| self.at(number));
        found.is_some_and(|(len, words)| {
            let mut parts = words.iter().zip(name.chunks(8));
            len == name.len()
                && parts.all(|(word, chunk)| word.load(Ordering::Relaxed) == word_of(chunk))
        })
    }

    /// Length and words of the name with this number.
    fn at(&self, number: u16) -> Option<(usize, &[AtomicU64])> {
        if number == 0 {
            return None;
        }
        let (len, words) = self.words.get(usize::from(number) * WORDS..)?.split_first()?;
        let len = len.load(Ordering::Acquire) as usize;
        (1..=LEN_MAX).contains(&len).then_some((len, words.get(..len.div_ceil(8))?))
    }
}

/// Eight bytes at most, padded with NULs.
fn word_of(chunk: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(chunk) {
        *to = *from;
    }
    u64::from_le_bytes(bytes)
}

fn hash(name: &[u8]) -> u64 {
    let parts = name.chunks(8).map(word_of);
    parts.fold(SEED ^ name.len() as u64, |hash, part| fold(hash ^ part, ODD))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> TypeNames {
        TypeNames::new(Mapped::new(UNITS * WORDS).unwrap(), Mapped::new(1).unwrap()).unwrap()
    }

    #[test]
    fn a_name_has_one_number_and_comes_back_as_it_was() {
        let (names, mut bytes) = (table(), [0; LEN_MAX]);
        let long = [b'l'; LEN_MAX];
        let all: [&[u8]; 6] = [b"a", b"a\0", b"Vec<u8>", &long, &long[1..], b"\x1b[31m"];
        let numbers = all.map(|name| names.intern(name, |_| true));
        for (name, number) in all.into_iter().zip(numbers) {
            assert_ne!(number, 0);
            assert_eq!(numbers.iter().filter(|&&other| other == number).count(), 1);
            assert_eq!(names.intern(name, |_| panic!("it is there")), number);
            assert_eq!(names.get(number, &mut bytes), Some(name));
        }
        assert_eq!(names.get(0, &mut bytes), None);
        assert_eq!(names.get(9000, &mut bytes), None);
        assert_eq!(names.without(), 0);
    }

    #[test]
    fn what_has_no_room_has_no_number_and_is_counted() {
        let names = table();
        assert_eq!(names.intern(b"no memory", |_| false), 0);
        let mut name = [b'x'; LEN_MAX];
        let mut given = 0_u64;
        for n in 0..5000_u16 {
            name[..2].copy_from_slice(&n.to_le_bytes());
            given += u64::from(names.intern(&name, |len| len <= UNITS * UNIT) != 0);
        }
        assert_eq!(given, (UNITS as u64 - 2) / 17);
        assert_eq!(names.without(), 1 + 5000 - given);
    }
}
