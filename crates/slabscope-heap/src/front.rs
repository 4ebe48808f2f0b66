//! The front of a thread's cache: what nearly every operation needs, and nothing else.
//!
//! A front may be *closed*: it gives nothing and takes nothing, so that every operation goes the long
//! way, where it finds out why. Whoever leads a thread to a closed front instead of its own so stops its
//! fast path, which need not look at anything it did not look at anyway.

use core::cell::Cell;
use core::ptr::null_mut;

use slabscope_wire::size_class::{COUNT, SizeClass};

use crate::class::{class_of, class_plain};
use crate::kept_large::KeptLarge;
use crate::slot;

/// The first list of free slots of each class.
///
/// Invariant: `heads` leads to as many slots of the class as its list may have less `room` and
/// `taken`; they are whole free slots that are nobody else's.
#[derive(Debug)]
#[repr(C)]
pub struct Front {
    heads: [Cell<*mut u8>; COUNT],
    /// How many slots more each list may have, but for those of `taken`.
    room: [Cell<u32>; COUNT],
    /// How many slots were taken that `room` does not know of yet. Apart from it, since a slot that is
    /// taken and given back at once would else wait twice for the same word to come out of the store
    /// buffer.
    taken: [Cell<u32>; COUNT],
    /// Large objects, as long as they are kept.
    pub(crate) large: KeptLarge,
}

/// A front that is closed, for all threads. Nothing is ever written to it.
#[derive(Debug)]
pub struct Closed(Front);

// SAFETY: `take` and `put`, here and of large objects, write only if a list has something or room, and
// these have neither.
unsafe impl Sync for Closed {}

/// The closed front.
pub static CLOSED: Closed = Closed(Front::with(KeptLarge::closed()));

impl Closed {
    /// As a front like any other.
    pub const fn front(&self) -> &Front {
        &self.0
    }
}

impl Front {
    /// The front of an empty cache.
    pub(crate) const fn new() -> Self {
        Self::with(KeptLarge::new())
    }

    const fn with(large: KeptLarge) -> Self {
        Front {
            heads: [const { Cell::new(null_mut()) }; COUNT],
            room: [const { Cell::new(0) }; COUNT],
            taken: [const { Cell::new(0) }; COUNT],
            large,
        }
    }

    /// As [`Heap::alloc`](crate::Heap::alloc) at [`ALIGN_PLAIN`](crate::ALIGN_PLAIN), if a slot is at hand;
    /// else null, and nothing was done.
    #[inline(always)]
    pub fn alloc(&self, size: usize) -> *mut u8 {
        match class_plain(size) {
            Some(class) => self.take(class),
            None => null_mut(),
        }
    }

    /// As [`Heap::dealloc`](crate::Heap::dealloc) at alignments up to
    /// [`ALIGN_PLAIN`](crate::ALIGN_PLAIN), if there is room at hand; else `false`, and nothing was done.
    ///
    /// # Safety
    /// As [`Heap::dealloc`](crate::Heap::dealloc), with the cache this is the front of; or it is closed.
    #[inline(always)]
    pub unsafe fn dealloc(&self, object: *mut u8, size: usize) -> bool {
        match class_plain(size) {
            // SAFETY: passed on to the caller.
            Some(class) => unsafe { self.put(class, object) },
            None => false,
        }
    }

    /// Undoes a [`Front::alloc`] of so many bytes that was the last operation.
    ///
    /// # Safety
    /// `object` is what that gave out, and the caller gives it up; nothing of the slot was written to.
    #[inline(always)]
    pub unsafe fn undo_alloc(&self, object: *mut u8, size: usize) {
        if let Some(class) = class_plain(size) {
            let (head, taken) = (of(&self.heads, class), of(&self.taken, class));
            head.set(object);
            taken.set(taken.get().wrapping_sub(1));
        }
    }

    /// As [`Front::alloc`], at any alignment.
    #[inline]
    pub fn alloc_aligned(&self, size: usize, align: usize) -> *mut u8 {
        class_of(size, align).map_or(null_mut(), |class| self.take(class))
    }

    /// As [`Front::dealloc`], at any alignment.
    ///
    /// # Safety
    /// As [`Front::dealloc`].
    #[inline]
    pub unsafe fn dealloc_aligned(&self, object: *mut u8, size: usize, align: usize) -> bool {
        // SAFETY: passed on to the caller.
        class_of(size, align).is_some_and(|class| unsafe { self.put(class, object) })
    }

    /// The slot that was put in last; null if there is none.
    #[inline(always)]
    pub(crate) fn take(&self, class: SizeClass) -> *mut u8 {
        let head = of(&self.heads, class);
        let slot = head.get();
        if !slot.is_null() {
            // SAFETY: the slot is in the list, so its first word is a link, by the invariant.
            head.set(unsafe { slot::next(slot) });
            let taken = of(&self.taken, class);
            taken.set(taken.get().wrapping_add(1));
        }
        slot
    }

    /// Puts a slot in; `false` if there seems to be no room, as [`Front::count_taken`] may find there is.
    ///
    /// # Safety
    /// The slot is a whole slot of the class, and the caller gives it up; or the front is closed.
    #[inline(always)]
    pub(crate) unsafe fn put(&self, class: SizeClass, slot: *mut u8) -> bool {
        let (head, room) = (of(&self.heads, class), of(&self.room, class));
        let (left, none) = room.get().overflowing_sub(1);
        if none {
            return false;
        }
        // SAFETY: passed on to the caller.
        unsafe { slot::link(slot, head.get()) };
        head.set(slot);
        room.set(left);
        true
    }

    /// Makes room for as many slots as were taken; says whether there is any.
    pub(crate) fn count_taken(&self, class: SizeClass) -> bool {
        let taken = of(&self.taken, class).replace(0);
        let room = of(&self.room, class);
        room.set(room.get() + taken);
        room.get() > 0
    }

    /// How many slots more the list may have.
    pub(crate) fn room(&self, class: SizeClass) -> u32 {
        of(&self.room, class).get() + of(&self.taken, class).get()
    }

    /// The first slot of the list.
    pub(crate) fn head(&self, class: SizeClass) -> *mut u8 {
        of(&self.heads, class).get()
    }

    /// Puts another list in the place of the one there is, which the caller has or which is empty.
    ///
    /// # Safety
    /// `head` and `room` keep the invariant, and the slots are the caller's to give.
    pub(crate) unsafe fn set(&self, class: SizeClass, head: *mut u8, room: u32) {
        of(&self.heads, class).set(head);
        of(&self.room, class).set(room);
        of(&self.taken, class).set(0);
    }
}

/// What `of` has for `class`.
#[inline(always)]
fn of<T>(all: &[T; COUNT], class: SizeClass) -> &T {
    const { assert!(SizeClass::new(COUNT as u8).is_none(), "a class's number is below COUNT") };
    // SAFETY: there is one for each class that can be made.
    unsafe { all.get_unchecked(class.index()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_front_gives_and_takes_nothing() {
        let mut word = 0_u64;
        for size in [0, 1, 64, 32_768, 32_769, usize::MAX] {
            assert!(CLOSED.front().alloc(size).is_null());
            // SAFETY: it is closed.
            assert!(!unsafe { CLOSED.front().dealloc((&raw mut word).cast(), size) });
        }
    }

    #[test]
    fn an_alloc_that_is_undone_was_none() {
        let front = Front::new();
        let class = class_plain(64).unwrap();
        let mut slots = [[0_u64; 8]; 2];
        // SAFETY: nothing is in the list yet.
        unsafe { front.set(class, null_mut(), 2) };
        for slot in &mut slots {
            // SAFETY: the slot is ours, and is in one list only.
            assert!(unsafe { front.dealloc(slot.as_mut_ptr().cast(), 64) });
        }
        let state = || (front.head(class), front.room(class));
        let before = state();
        let object = front.alloc(64);
        assert_ne!(state(), before);
        // SAFETY: it was just given out.
        unsafe { front.undo_alloc(object, 64) };
        assert_eq!(state(), before);
        assert_eq!(front.alloc(64), object);
        assert_eq!(front.alloc(64), slots[0].as_mut_ptr().cast());
    }
}
