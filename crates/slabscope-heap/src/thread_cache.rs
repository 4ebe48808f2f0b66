//! Free slots of one thread, by size class: what makes most operations a few instructions.
//!
//! Each class has two lists at most: one that slots are taken from and put in, and a full one beside
//! it. When both are full, or both empty, one whole list goes to the central list or comes from
//! there, without anybody walking along it. (Bonwick's magazines, made of links.) A list may hold few
//! slots at first and more as the class is used, so that a thread which allocates little keeps little.

use slabscope_wire::size_class::{COUNT, SizeClass};

use crate::PAGE_SIZE;
use crate::slot::{self, SlotList};

/// Bytes of a full list, about.
const BATCH_BYTES: usize = 32 << 10;

/// Slots of a full list at most.
pub(crate) const BATCH_MAX: u32 = 64;

/// Large objects of up to this many pages are kept too.
const LARGE_PAGES_MAX: usize = 64;

/// Bytes of large objects of one size that are kept at most.
const LARGE_BYTES: usize = 512 << 10;

/// Bytes of all large objects that are kept at most.
const LARGE_BYTES_TOTAL: usize = 2 << 20;

/// Slots of a full list of each class.
const BATCHES: [u32; COUNT] = {
    let mut batches = [0; COUNT];
    let mut index = 1;
    while index < COUNT {
        if let Some(class) = SizeClass::new(index as u8) {
            let slots = BATCH_BYTES / class.slot_size();
            batches[index] = match slots {
                0 | 1 => 2,
                slots if slots > BATCH_MAX as usize => BATCH_MAX,
                slots => slots as u32,
            };
        }
        index += 1;
    }
    batches
};

/// Slots of a full list of `class`.
#[inline]
pub(crate) fn batch_of(class: SizeClass) -> u32 {
    BATCHES.get(class.index()).copied().unwrap_or(2)
}

/// Large objects of `pages` pages that are kept.
#[cold]
fn large_batch_of(pages: usize) -> u32 {
    (LARGE_BYTES / (pages * PAGE_SIZE)).clamp(1, 8) as u32
}

/// Free slots of one class.
///
/// Invariant: `head` leads to `batch - room` slots, and `spare` to a list apart from it; both are of
/// whole free slots that are nobody else's.
#[derive(Debug)]
#[repr(C, align(32))]
pub(crate) struct Bin {
    head: *mut u8,
    /// How many slots more the list at `head` may have.
    room: u32,
    /// How many slots it may have in all.
    batch: u32,
    spare: SlotList,
}

/// Free slots of one thread. The thread gives them back with [`Heap::flush`](crate::Heap::flush)
/// before the cache is dropped; else they stay allocated.
#[derive(Debug)]
#[repr(C)]
pub struct ThreadCache {
    /// First, so that a class's number leads to its bin in one step.
    bins: [Bin; COUNT],
    /// Large objects by pages, from 1 on.
    large: [Bin; LARGE_PAGES_MAX],
    large_bytes: usize,
}

// SAFETY: it owns its slots, which are tied to no thread.
unsafe impl Send for ThreadCache {}

impl ThreadCache {
    /// An empty cache.
    #[expect(clippy::new_without_default, reason = "it is made for constants")]
    pub const fn new() -> Self {
        ThreadCache {
            bins: [const { Bin::new() }; COUNT],
            large: [const { Bin::new() }; LARGE_PAGES_MAX],
            large_bytes: 0,
        }
    }

    /// The slots of `class`.
    #[inline(always)]
    pub(crate) fn bin(&mut self, class: SizeClass) -> &mut Bin {
        const { assert!(SizeClass::new(COUNT as u8).is_none(), "a class's number is below COUNT") };
        // SAFETY: there is a bin for each class that can be made.
        unsafe { self.bins.get_unchecked_mut(class.index()) }
    }

    /// A large object of `pages` pages.
    #[inline]
    pub(crate) fn take_large(&mut self, pages: usize) -> Option<*mut u8> {
        let bin = self.large.get_mut(pages.wrapping_sub(1))?;
        let object = bin.take()?;
        self.large_bytes -= pages * PAGE_SIZE;
        Some(object)
    }

    /// Keeps a large object of `pages` pages, if there is room for it.
    ///
    /// # Safety
    /// The object is whole, free and the caller's.
    #[inline]
    pub(crate) unsafe fn put_large(&mut self, object: *mut u8, pages: usize) -> bool {
        let Some(bin) = self.large.get_mut(pages.wrapping_sub(1)) else { return false };
        let bytes = self.large_bytes + pages * PAGE_SIZE;
        if bytes > LARGE_BYTES_TOTAL || (bin.room == 0 && !bin.grow(large_batch_of(pages))) {
            return false;
        }
        self.large_bytes = bytes;
        // SAFETY: passed on to the caller.
        unsafe { bin.put(object) }
    }

    /// Takes any large object.
    pub(crate) fn take_any_large(&mut self) -> Option<*mut u8> {
        if self.large_bytes == 0 {
            return None;
        }
        (1..=LARGE_PAGES_MAX).rev().find_map(|pages| self.take_large(pages))
    }

    /// All free slots in it, and all free large objects.
    pub(crate) fn slots(&self) -> impl Iterator<Item = *mut u8> {
        self.bins.iter().chain(&self.large).flat_map(Bin::slots)
    }

    /// Bytes of the free slots of `class`.
    pub(crate) fn bytes_of(&self, class: SizeClass) -> usize {
        let slots = self.bins.get(class.index()).map_or(0, Bin::len);
        slots as usize * class.slot_size()
    }

    /// Bytes of large objects in it.
    pub(crate) fn large_bytes(&self) -> usize {
        self.large_bytes
    }
}

impl Bin {
    const fn new() -> Self {
        Bin { head: core::ptr::null_mut(), room: 0, batch: 0, spare: SlotList::new() }
    }

    /// The slot that was put in last, if the first list has one.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> Option<*mut u8> {
        let slot = self.head;
        if slot.is_null() {
            return None;
        }
        // SAFETY: the slot is in the list, so its first word is a link, by the invariant.
        self.head = unsafe { slot::next(slot) };
        self.room = self.room.wrapping_add(1);
        Some(slot)
    }

    /// Puts a slot in; `false` if the first list is full.
    ///
    /// # Safety
    /// The slot is a whole slot of this bin's class, and the caller gives it up.
    #[inline(always)]
    pub(crate) unsafe fn put(&mut self, slot: *mut u8) -> bool {
        let (room, none_left) = self.room.overflowing_sub(1);
        if none_left {
            return false;
        }
        // SAFETY: passed on to the caller.
        unsafe { slot::link(slot, self.head) };
        self.head = slot;
        self.room = room;
        true
    }

    /// The first list has run out: goes on with the other, if that has any.
    pub(crate) fn take_spare(&mut self) -> bool {
        let spare = self.spare.take_all();
        let some = !spare.is_empty();
        if some {
            self.fill(spare);
        }
        some
    }

    /// Makes `list` the first list, which is empty and no shorter.
    pub(crate) fn fill(&mut self, list: SlotList) {
        let (head, len) = list.into_parts();
        self.head = head;
        self.batch = self.batch.max(len);
        self.room = self.batch - len;
    }

    /// The first list is full: makes room, and returns a list there is no place for.
    pub(crate) fn make_room(&mut self, class: SizeClass) -> SlotList {
        if self.grow(batch_of(class)) {
            return SlotList::new();
        }
        let full = self.take_first();
        core::mem::replace(&mut self.spare, full)
    }

    /// Lets the first list have more slots, `most` in the end; `false` if it may have that many
    /// already. Returns how many it may have now.
    pub(crate) fn grow(&mut self, most: u32) -> bool {
        let more = (self.batch * 3).max(1).min(most.saturating_sub(self.batch));
        self.batch += more;
        self.room += more;
        more > 0
    }

    /// How many slots a list may have.
    pub(crate) fn batch(&self) -> u32 {
        self.batch
    }

    /// Takes the first list out.
    pub(crate) fn take_first(&mut self) -> SlotList {
        let len = self.batch - self.room;
        let head = core::mem::replace(&mut self.head, core::ptr::null_mut());
        self.room = self.batch;
        // SAFETY: the invariant makes it a list of so many slots, and it is ours.
        unsafe { SlotList::from_parts(head, len) }
    }

    /// Takes the other list out.
    pub(crate) fn take_second(&mut self) -> SlotList {
        self.spare.take_all()
    }

    fn len(&self) -> u32 {
        self.batch - self.room + self.spare.len()
    }

    fn slots(&self) -> impl Iterator<Item = *mut u8> {
        // SAFETY: all that is reached this way is in the list, by the invariant.
        unsafe { slot::chain(self.head) }.chain(self.spare.iter())
    }
}

#[cfg(test)]
mod tests {
    use std::vec;

    use super::*;

    #[test]
    fn a_bin_grows_with_its_use_and_stops() {
        for class in SizeClass::all() {
            let mut bin = Bin::new();
            let mut slots = vec![[0_u64; 1]; 3 * BATCH_MAX as usize];
            let mut given_up = 0;
            for slot in &mut slots {
                let slot = slot.as_mut_ptr().cast();
                // SAFETY: the word is ours, and is in one list only.
                while !unsafe { bin.put(slot) } {
                    given_up += bin.make_room(class).len();
                }
            }
            assert_eq!(bin.batch, batch_of(class));
            assert_eq!(bin.slots().count() as u32, bin.len());
            assert_eq!(bin.len() + given_up, 3 * BATCH_MAX);
            assert!(bin.len() <= 2 * batch_of(class));
            let mut taken = 0;
            while bin.take().is_some() || bin.take_spare() {
                taken += 1;
            }
            assert!(taken >= batch_of(class) && bin.len() == 0);
        }
    }

    #[test]
    fn large_objects_are_kept_up_to_a_bound() {
        let mut cache = ThreadCache::new();
        let mut words = vec![0_u64; 1000];
        let mut kept = 0;
        for word in &mut words {
            // SAFETY: the word is ours, and is in one list only.
            kept += usize::from(unsafe { cache.put_large((&raw mut *word).cast(), 8) });
        }
        assert_eq!((kept, cache.large_bytes()), (8, 8 * 8 * PAGE_SIZE));
        // SAFETY: as above, and it is not kept.
        assert!(!unsafe { cache.put_large((&raw mut words[999]).cast(), LARGE_PAGES_MAX + 1) });
        assert_eq!(cache.slots().count(), kept);
        assert!(cache.take_large(9).is_none());
        assert_eq!(core::iter::from_fn(|| cache.take_any_large()).count(), kept);
        assert_eq!(cache.large_bytes(), 0);
    }
}
