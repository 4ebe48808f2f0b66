//! Frames of call stacks: a table that is only ever added to.
//!
//! A number is taken first and its word written afterwards. Whoever is interrupted in between leaves a
//! word that nobody knows of; nobody waits for it. The layout is `slabscope_wire::live::frame`.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use slabscope_unwind::Frame;
use slabscope_wire::live::frame::{self, REGIONS};

use crate::mapped::Mapped;

/// A frame of a stack, and the one that called it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) frame: Frame,
    /// 0 for none.
    pub(crate) parent: u32,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Frames {
    /// From number 1 on. Relaxed: whoever has a number got it by an index's release and acquire, or from
    /// a ring, and so sees its word, and the region before it.
    words: Mapped<AtomicU64>,
    /// Where regions lie, 0 for a free place. Written once.
    regions: Mapped<AtomicU32>,
    /// Numbers given out. Relaxed: it only hands out numbers.
    count: Mapped<AtomicU64>,
}

impl Frames {
    pub(crate) fn new(
        words: Mapped<AtomicU64>,
        regions: Mapped<AtomicU32>,
        count: Mapped<AtomicU64>,
    ) -> Self {
        Frames { words, regions, count }
    }

    /// A frame as a word; `None` when its address is in one region too many.
    pub(crate) fn pack(&self, Link { frame, parent }: Link) -> Option<u64> {
        let region = self.region(frame::region_of(frame.address()))?;
        Some(frame::pack(region, frame.address(), frame.flags(), parent))
    }

    /// The number of a region, which is entered if it is new. Never 0.
    fn region(&self, of: u32) -> Option<usize> {
        let home = (of.wrapping_mul(0x9e37_79b9) >> 22) as usize;
        for place in (home..home + REGIONS).map(|place| place % REGIONS).filter(|&place| place != 0)
        {
            let region = self.regions.get(place)?;
            let mut found = region.load(Ordering::Relaxed);
            if found == 0 {
                found = match region.compare_exchange(0, of, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => of,
                    Err(other) => other,
                };
            }
            if found == of {
                return Some(place);
            }
        }
        None
    }

    /// Adds a word; its number, from 1. `None` when the table is full, or `back` says that there is no
    /// memory for so many bytes of it.
    pub(crate) fn push(&self, word: u64, back: impl Fn(usize) -> bool) -> Option<u32> {
        let room = self.words.len() as u64;
        let take = |count: u64| (count < room).then_some(count + 1);
        let count = self.count.first()?;
        let index = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()? as usize;
        if !back((index + 1) * frame::LEN) {
            return None;
        }
        self.words.get(index)?.store(word, Ordering::Relaxed);
        Some(index as u32 + 1)
    }

    /// The word with this number; 0 for one that was never given out.
    #[inline]
    pub(crate) fn word(&self, number: u32) -> u64 {
        let index = (number as usize).wrapping_sub(1);
        self.words.get(index).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// What a frame's number stands for; `None` for numbers never given out.
    pub(crate) fn get(&self, number: u32) -> Option<Link> {
        let word = self.word(number);
        let region = self.regions.get(frame::region(word))?.load(Ordering::Relaxed);
        let (address, flags, parent) = frame::unpack(word, region)?;
        Some(Link { frame: Frame::from_word(flags << 56 | address), parent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(room: usize) -> Frames {
        let [words, count] = [room, 1].map(|len| Mapped::new(len).unwrap());
        Frames::new(words, Mapped::new(REGIONS).unwrap(), count)
    }

    fn link(address: u64, parent: u32) -> Link {
        Link { frame: Frame::from_word(5 << 56 | address), parent }
    }

    #[test]
    fn frames_are_numbered_from_1_until_there_is_no_room() {
        let frames = table(10);
        assert_eq!(frames.get(1), None);
        for n in 0..10 {
            let link = link(u64::from(n) << 43 | 0x1234_5678, n);
            let word = frames.pack(link).unwrap();
            assert_eq!(frames.push(word, |len| len == (n as usize + 1) * 8), Some(n + 1));
            assert_eq!(frames.get(n + 1), Some(link));
        }
        assert_eq!(frames.push(1, |_| true), None);
        assert_eq!((frames.get(0), frames.get(11)), (None, None));
        assert_eq!(table(10).push(1, |_| false), None);
    }

    #[test]
    fn there_are_as_many_regions_as_fit_and_then_no_more() {
        let frames = table(1);
        let words: [_; 2000] = core::array::from_fn(|n| frames.pack(link((n as u64) << 28, 1)));
        let (kept, refused) = words.split_at(REGIONS - 1);
        assert!(kept.iter().all(Option::is_some) && refused.iter().all(Option::is_none));
        for (n, word) in (0..).zip(kept) {
            assert_eq!(frames.pack(link(n << 28, 1)), *word);
        }
    }
}
