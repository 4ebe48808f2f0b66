//! Free slots, linked through their first word.

use core::ptr::null_mut;

/// A stack of free slots, owned by whoever has the value.
///
/// Invariant: each slot in it is at least eight bytes long, aligned to eight, and nobody else's.
#[derive(Debug)]
pub(crate) struct SlotList {
    head: *mut u8,
    len: u32,
}

// SAFETY: it owns its slots, which are tied to no thread.
unsafe impl Send for SlotList {}

impl SlotList {
    pub(crate) const fn new() -> Self {
        SlotList { head: null_mut(), len: 0 }
    }

    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Takes a slot in.
    ///
    /// # Safety
    /// The slot is a whole slot of this heap, and the caller gives it up.
    #[inline]
    pub(crate) unsafe fn push(&mut self, slot: *mut u8) {
        // SAFETY: passed on to the caller.
        unsafe { link(slot, self.head) };
        self.head = slot;
        self.len = self.len.wrapping_add(1);
    }

    /// Gives the slot that was taken in last.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<*mut u8> {
        if self.head.is_null() {
            return None;
        }
        let slot = self.head;
        // SAFETY: the slot is in the list, so its first word is a link, by the invariant.
        self.head = unsafe { next(slot) };
        self.len = self.len.wrapping_sub(1);
        Some(slot)
    }

    /// The slots in it.
    pub(crate) fn iter(&self) -> impl Iterator<Item = *mut u8> {
        // SAFETY: all that is reached this way is in the list, by the invariant.
        unsafe { chain(self.head) }
    }
}

/// The slots of a chain that begins at `head`.
///
/// # Safety
/// The chain is of free slots, and does not change meanwhile.
pub(crate) unsafe fn chain(head: *mut u8) -> impl Iterator<Item = *mut u8> {
    let some = |slot: *mut u8| (!slot.is_null()).then_some(slot);
    // SAFETY: passed on to the caller.
    core::iter::successors(some(head), move |&slot| some(unsafe { next(slot) }))
}

/// Makes `slot` lead to `next`.
///
/// # Safety
/// The slot is a whole free slot, at least eight bytes long and aligned to eight.
#[inline]
pub(crate) unsafe fn link(slot: *mut u8, next: *mut u8) {
    // SAFETY: passed on to the caller.
    unsafe { slot.cast::<*mut u8>().write(next) };
}

/// Where `slot` leads.
///
/// # Safety
/// The slot is free and was linked.
#[inline]
pub(crate) unsafe fn next(slot: *mut u8) -> *mut u8 {
    // SAFETY: passed on to the caller.
    unsafe { slot.cast::<*mut u8>().read() }
}
