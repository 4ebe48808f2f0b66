//! From a page to a number, for pages of any heap there is.
//!
//! Ids count from the start of the heap, so nearly all pages lie close together: those are looked up
//! in a table of two levels. Others, which a foreign or broken trace may have, go to a hash map.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// Pages of a table of the second level.
const CHUNK: u64 = 4096;

/// Tables of the second level, at most: pages of 128 GiB.
const CHUNKS_MAX: u64 = 4096;

/// No number.
const NONE: u32 = u32::MAX;

/// Numbers by page.
#[derive(Debug, Default)]
pub(super) struct PageMap {
    chunks: Vec<Option<Box<[u32]>>>,
    far: HashMap<u64, u32, RandomState>,
}

impl PageMap {
    /// The number of a page.
    #[inline]
    pub(super) fn get(&self, page: u64) -> Option<u32> {
        match self.chunks.get((page / CHUNK) as usize) {
            Some(Some(chunk)) => {
                let number = *chunk.get((page % CHUNK) as usize)?;
                (number != NONE).then_some(number)
            }
            Some(None) => None,
            None => self.far.get(&page).copied(),
        }
    }

    /// Gives a page a number.
    pub(super) fn set(&mut self, page: u64, number: u32) {
        if page / CHUNK >= CHUNKS_MAX {
            self.far.insert(page, number);
            return;
        }
        let index = (page / CHUNK) as usize;
        if index >= self.chunks.len() {
            self.chunks.resize_with(index + 1, || None);
        }
        let chunk =
            self.chunks[index].get_or_insert_with(|| vec![NONE; CHUNK as usize].into_boxed_slice());
        chunk[(page % CHUNK) as usize] = number;
    }

    /// Takes the number of a page away.
    pub(super) fn clear(&mut self, page: u64) {
        if page / CHUNK >= CHUNKS_MAX {
            self.far.remove(&page);
        } else if let Some(Some(chunk)) = self.chunks.get_mut((page / CHUNK) as usize) {
            chunk[(page % CHUNK) as usize] = NONE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_and_far_pages_keep_their_numbers() {
        let mut map = PageMap::default();
        let end = CHUNK * CHUNKS_MAX;
        let pages = [0, 1, CHUNK - 1, CHUNK, 5 * CHUNK + 3, end - 1, end, u64::MAX];
        for (number, page) in (0..).zip(pages) {
            assert_eq!(map.get(page), None);
            map.set(page, number);
        }
        for (number, page) in (0..).zip(pages) {
            assert_eq!(map.get(page), Some(number), "{page}");
        }
        assert_eq!((map.get(2), map.get(7 * CHUNK), map.get(end + 1)), (None, None, None));
        for page in pages {
            map.clear(page);
            assert_eq!(map.get(page), None, "{page}");
        }
    }
}
