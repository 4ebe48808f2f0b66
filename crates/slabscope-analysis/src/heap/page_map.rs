//! What is known of a page, for pages of any heap there is.
//!
//! Ids count from the start of the heap, so nearly all pages lie close together: those are looked up
//! in a table of two levels. Others, which a foreign or broken trace may have, go to a hash map.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// Pages of a table of the second level.
const CHUNK: u64 = 4096;

/// Tables of the second level, at most: pages of 128 GiB.
const CHUNKS_MAX: u64 = 4096;

/// What it takes to find the slot of an object in a page. Four of these share a cache line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Page {
    /// The span it belongs to, by number; [`Page::NO_SPAN`] for none.
    pub(super) span: u32,
    /// Where the slots of the span begin among all slots.
    pub(super) base: u32,
    /// 2^32 over the size of a slot in bytes, rounded up.
    pub(super) inverse: u32,
    /// How many slots the span has; 0 where they have to be found in another way.
    pub(super) count: u16,
    /// The span's size class.
    pub(super) class: u8,
    /// How many pages of the span come before it.
    pub(super) before: u8,
}

const _: () = assert!(size_of::<Page>() == 16);

impl Page {
    /// The number of no span.
    pub(super) const NO_SPAN: u32 = u32::MAX;

    /// A page of no span.
    pub(super) const NONE: Page =
        Page { span: Page::NO_SPAN, base: 0, inverse: 0, count: 0, class: 0, before: 0 };
}

/// All pages that are known.
#[derive(Clone, Debug, Default)]
pub(super) struct PageMap {
    chunks: Vec<Option<Box<[Page; CHUNK as usize]>>>,
    far: HashMap<u64, Page, RandomState>,
}

impl PageMap {
    /// What is known of a page.
    #[inline]
    pub(super) fn get(&self, page: u64) -> &Page {
        match self.chunks.get((page / CHUNK) as usize) {
            Some(Some(chunk)) => &chunk[(page % CHUNK) as usize],
            Some(None) => &Page::NONE,
            None => self.far(page),
        }
    }

    #[cold]
    fn far(&self, page: u64) -> &Page {
        self.far.get(&page).unwrap_or(&Page::NONE)
    }

    /// Notes something of a page.
    pub(super) fn set(&mut self, page: u64, known: Page) {
        if page / CHUNK >= CHUNKS_MAX {
            self.far.insert(page, known);
            return;
        }
        let index = (page / CHUNK) as usize;
        if index >= self.chunks.len() {
            self.chunks.resize_with(index + 1, || None);
        }
        let chunk =
            self.chunks[index].get_or_insert_with(|| Box::new([Page::NONE; CHUNK as usize]));
        chunk[(page % CHUNK) as usize] = known;
    }

    /// Forgets a page.
    pub(super) fn clear(&mut self, page: u64) {
        if page / CHUNK >= CHUNKS_MAX {
            self.far.remove(&page);
        } else if let Some(Some(chunk)) = self.chunks.get_mut((page / CHUNK) as usize) {
            chunk[(page % CHUNK) as usize] = Page::NONE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_and_far_pages_keep_what_is_known_of_them() {
        let mut map = PageMap::default();
        let end = CHUNK * CHUNKS_MAX;
        let pages = [0, 1, CHUNK - 1, CHUNK, 5 * CHUNK + 3, end - 1, end, u64::MAX];
        let known = |span| Page { span, ..Page::NONE };
        for (number, page) in (0..).zip(pages) {
            assert_eq!(*map.get(page), Page::NONE);
            map.set(page, known(number));
        }
        for (number, page) in (0..).zip(pages) {
            assert_eq!(*map.get(page), known(number), "{page}");
        }
        for page in [2, 7 * CHUNK, end + 1] {
            assert_eq!(*map.get(page), Page::NONE, "{page}");
        }
        for page in pages {
            map.clear(page);
            assert_eq!(*map.get(page), Page::NONE, "{page}");
        }
    }
}
