//! Large objects that a thread keeps: a few of each length, so that buffers which come and go need no lock.

use core::cell::Cell;
use core::ptr::null_mut;

use crate::PAGE_SIZE;
use crate::slot;

/// Objects of up to this many pages are kept: so many that one of them has room.
const PAGES_MAX: usize = 64;

/// Pages of objects of one length that are kept at most, but for one that is alone.
const PAGES_OF_LENGTH: usize = (512 << 10) / PAGE_SIZE;

/// Pages of all that are kept at most.
const PAGES: usize = (2 << 20) / PAGE_SIZE;

/// Objects of one length.
///
/// Invariant: `head` leads to as many objects as there is less room than at first. They are whole, free
/// and nobody else's.
#[derive(Debug)]
struct List {
    head: Cell<*mut u8>,
    /// How many more there may be.
    room: Cell<u32>,
}

/// All of them, by pages, from 1 on.
#[derive(Debug)]
pub(crate) struct KeptLarge {
    lists: [List; PAGES_MAX],
    /// How many pages more there may be in all.
    room: Cell<usize>,
}

impl KeptLarge {
    /// Keeps none yet.
    pub(crate) const fn new() -> Self {
        let mut kept = Self::closed();
        kept.room = Cell::new(PAGES);
        let mut pages = 1;
        while pages <= PAGES_MAX {
            kept.lists[pages - 1].room = Cell::new((PAGES_OF_LENGTH / pages) as u32);
            pages += 1;
        }
        kept
    }

    /// Never keeps any.
    pub(crate) const fn closed() -> Self {
        KeptLarge {
            lists: [const { List { head: Cell::new(null_mut()), room: Cell::new(0) } }; PAGES_MAX],
            room: Cell::new(0),
        }
    }

    /// An object of `pages` pages; null if there is none, and nothing was done.
    #[inline(always)]
    pub(crate) fn take(&self, pages: usize) -> *mut u8 {
        let Some(list) = self.lists.get(pages.wrapping_sub(1)) else { return null_mut() };
        let object = list.head.get();
        if !object.is_null() {
            // SAFETY: the object is in the list, so its first word is a link, by the invariant.
            list.head.set(unsafe { slot::next(object) });
            list.room.set(list.room.get().wrapping_add(1));
            self.room.set(self.room.get().wrapping_add(pages));
        }
        object
    }

    /// Keeps an object of `pages` pages, if there is room for it and then `check` says that it is one;
    /// else `false`, and nothing was done.
    ///
    /// # Safety
    /// The object is whole, free and the caller's, if `check` says so; or there is no room.
    #[inline(always)]
    pub(crate) unsafe fn put(
        &self,
        object: *mut u8,
        pages: usize,
        check: impl FnOnce() -> bool,
    ) -> bool {
        let Some(list) = self.lists.get(pages.wrapping_sub(1)) else { return false };
        if list.room.get() == 0 || self.room.get() < pages || !check() {
            return false;
        }
        list.room.set(list.room.get() - 1);
        self.room.set(self.room.get() - pages);
        // SAFETY: passed on to the caller.
        unsafe { slot::link(object, list.head.get()) };
        list.head.set(object);
        true
    }

    /// Takes any object.
    pub(crate) fn take_any(&self) -> Option<*mut u8> {
        if self.bytes() == 0 {
            return None;
        }
        (1..=PAGES_MAX).rev().map(|pages| self.take(pages)).find(|object| !object.is_null())
    }

    /// All of them.
    pub(crate) fn objects(&self) -> impl Iterator<Item = *mut u8> {
        // SAFETY: all that is reached this way is in the lists, by the invariant.
        self.lists.iter().flat_map(|list| unsafe { slot::chain(list.head.get()) })
    }

    /// How many bytes they have; of one that is not closed.
    pub(crate) fn bytes(&self) -> usize {
        (PAGES - self.room.get()) * PAGE_SIZE
    }
}

#[cfg(test)]
mod tests {
    use std::vec;

    use super::*;

    #[test]
    fn objects_are_kept_up_to_a_bound() {
        let kept = KeptLarge::new();
        let mut words = vec![0_u64; 1000];
        let mut count = 0;
        for word in &mut words {
            // SAFETY: the word is ours, and is in one list only.
            count += usize::from(unsafe { kept.put((&raw mut *word).cast(), 8, || true) });
        }
        // SAFETY: as above, and it is not kept.
        assert!(!unsafe { kept.put((&raw mut words[999]).cast(), 9, || false) });
        assert_eq!((count, kept.bytes()), (8, 8 * 8 * PAGE_SIZE));
        // SAFETY: as above, and it is not kept.
        assert!(!unsafe { kept.put((&raw mut words[999]).cast(), PAGES_MAX + 1, || true) });
        assert_eq!(kept.objects().count(), count);
        assert!(kept.take(9).is_null());
        assert_eq!(core::iter::from_fn(|| kept.take_any()).count(), count);
        assert_eq!(kept.bytes(), 0);
        // SAFETY: as above.
        assert!(!unsafe { KeptLarge::closed().put((&raw mut words[999]).cast(), 1, || true) });
    }
}
