//! Large objects that a thread keeps: a few of each length, so that buffers which come and go need no lock.

use core::ptr::null_mut;

use crate::PAGE_SIZE;
use crate::slot;

/// Objects of up to this many pages are kept.
const PAGES_MAX: usize = 64;

/// Bytes of objects of one length that are kept at most.
const BYTES: usize = 512 << 10;

/// Bytes of all that are kept at most.
const BYTES_TOTAL: usize = 2 << 20;

/// Objects of one length.
///
/// Invariant: `head` leads to `len` objects that are whole, free and nobody else's.
#[derive(Debug)]
struct List {
    head: *mut u8,
    len: usize,
}

/// All of them, by pages, from 1 on.
#[derive(Debug)]
pub(crate) struct KeptLarge {
    lists: [List; PAGES_MAX],
    bytes: usize,
}

impl KeptLarge {
    pub(crate) const fn new() -> Self {
        KeptLarge { lists: [const { List { head: null_mut(), len: 0 } }; PAGES_MAX], bytes: 0 }
    }

    /// An object of `pages` pages.
    #[inline]
    pub(crate) fn take(&mut self, pages: usize) -> Option<*mut u8> {
        let list = self.lists.get_mut(pages.wrapping_sub(1))?;
        let object = list.head;
        if object.is_null() {
            return None;
        }
        // SAFETY: the object is in the list, so its first word is a link, by the invariant.
        list.head = unsafe { slot::next(object) };
        list.len -= 1;
        self.bytes -= pages * PAGE_SIZE;
        Some(object)
    }

    /// Keeps an object of `pages` pages, if there is room for it.
    ///
    /// # Safety
    /// The object is whole, free and the caller's.
    #[inline]
    pub(crate) unsafe fn put(&mut self, object: *mut u8, pages: usize) -> bool {
        let Some(list) = self.lists.get_mut(pages.wrapping_sub(1)) else { return false };
        let bytes = self.bytes + pages * PAGE_SIZE;
        if bytes > BYTES_TOTAL || (list.len > 0 && (list.len + 1) * pages > BYTES / PAGE_SIZE) {
            return false;
        }
        self.bytes = bytes;
        // SAFETY: passed on to the caller.
        unsafe { slot::link(object, list.head) };
        list.head = object;
        list.len += 1;
        true
    }

    /// Takes any object.
    pub(crate) fn take_any(&mut self) -> Option<*mut u8> {
        if self.bytes == 0 {
            return None;
        }
        (1..=PAGES_MAX).rev().find_map(|pages| self.take(pages))
    }

    /// All of them.
    pub(crate) fn objects(&self) -> impl Iterator<Item = *mut u8> {
        // SAFETY: all that is reached this way is in the lists, by the invariant.
        self.lists.iter().flat_map(|list| unsafe { slot::chain(list.head) })
    }

    /// How many bytes they have.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use std::vec;

    use super::*;

    #[test]
    fn objects_are_kept_up_to_a_bound() {
        let mut kept = KeptLarge::new();
        let mut words = vec![0_u64; 1000];
        let mut count = 0;
        for word in &mut words {
            // SAFETY: the word is ours, and is in one list only.
            count += usize::from(unsafe { kept.put((&raw mut *word).cast(), 8) });
        }
        assert_eq!((count, kept.bytes()), (8, 8 * 8 * PAGE_SIZE));
        // SAFETY: as above, and it is not kept.
        assert!(!unsafe { kept.put((&raw mut words[999]).cast(), PAGES_MAX + 1) });
        assert_eq!(kept.objects().count(), count);
        assert!(kept.take(9).is_none());
        assert_eq!(core::iter::from_fn(|| kept.take_any()).count(), count);
        assert_eq!(kept.bytes(), 0);
    }
}
