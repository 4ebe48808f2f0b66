//! Free slots, linked through their first word.

use core::ptr::null_mut;

use slabscope_os::fatal;

/// A stack of free slots, owned by whoever has the value.
///
/// Invariant: `len` slots, each at least eight bytes long, aligned to eight, and nobody else's.
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

    /// The list of `len` slots that begins at `head`.
    ///
    /// # Safety
    /// They are linked, end with null, and are the caller's to give.
    #[inline]
    pub(crate) unsafe fn from_parts(head: *mut u8, len: u32) -> Self {
        SlotList { head, len }
    }

    /// The first slot and how many there are.
    #[inline]
    pub(crate) fn into_parts(self) -> (*mut u8, u32) {
        (self.head, self.len)
    }

    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The slot that was taken in last.
    #[inline]
    pub(crate) fn first(&self) -> Option<*mut u8> {
        (self.len > 0).then_some(self.head)
    }

    /// Leaves it empty.
    #[inline]
    pub(crate) fn take_all(&mut self) -> Self {
        core::mem::replace(self, SlotList::new())
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
        self.len += 1;
    }

    /// Gives the slot that was taken in last. Ends the program if the links and the count disagree.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<*mut u8> {
        if self.head.is_null() != (self.len == 0) {
            broken();
        }
        if self.head.is_null() {
            return None;
        }
        let slot = self.head;
        // SAFETY: the slot is in the list, so its first word is a link, by the invariant.
        self.head = unsafe { next(slot) };
        self.len -= 1;
        Some(slot)
    }

    /// Takes the first slot off, and those behind it as long as each `belongs` with it; `None` if there are
    /// none. Ends the program if the links and the count disagree.
    #[inline]
    pub(crate) fn take_run(&mut self, belongs: impl Fn(*mut u8) -> bool) -> Option<Run> {
        let first = self.pop()?;
        let (mut last, mut len) = (first, 1);
        while !self.head.is_null() && belongs(self.head) {
            last = self.pop().unwrap_or(last);
            len += 1;
        }
        Some(Run { first, last, len })
    }

    /// Takes the first `count` slots off, or all if there are no more. Walks along those it takes,
    /// unless it takes all.
    pub(crate) fn split_off(&mut self, count: u32) -> Self {
        if count >= self.len {
            return self.take_all();
        }
        let Some(mut last) = (count > 0).then_some(self.head) else { return SlotList::new() };
        for _ in 1..count {
            // SAFETY: fewer than `len` links lead from slot to slot.
            last = unsafe { next(last) };
        }
        let taken = SlotList { head: self.head, len: count };
        // SAFETY: `last` is the last of those taken; another one follows it.
        unsafe {
            self.head = next(last);
            link(last, null_mut());
        }
        self.len -= count;
        taken
    }

    /// Puts all slots of `first` in. Walks along them.
    pub(crate) fn prepend(&mut self, first: SlotList) {
        let (head, len) = first.into_parts();
        if len == 0 {
            return;
        }
        let mut last = head;
        for _ in 1..len {
            // SAFETY: `len - 1` links lead from slot to slot, by the invariant.
            last = unsafe { next(last) };
        }
        // SAFETY: as above.
        unsafe { link(last, self.head) };
        self.head = head;
        self.len += len;
    }

    /// The slots in it.
    pub(crate) fn iter(&self) -> impl Iterator<Item = *mut u8> {
        // SAFETY: all that is reached this way is in the list, by the invariant.
        unsafe { chain(self.head) }
    }
}

/// Slots that are linked from the first to the last, wherever the last leads, and nobody else's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) first: *mut u8,
    pub(crate) last: *mut u8,
    pub(crate) len: u32,
}

/// A list of free slots does not have as many as were put in.
#[cold]
pub(crate) fn broken() -> ! {
    fatal(&[
        "a list of free slots is broken: an object was freed twice, ",
        "or written to after it was freed",
    ])
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
#[inline(always)]
pub(crate) unsafe fn link(slot: *mut u8, next: *mut u8) {
    // SAFETY: passed on to the caller.
    unsafe { slot.cast::<*mut u8>().write(next) };
}

/// Where `slot` leads.
///
/// # Safety
/// The slot is free and was linked.
#[inline(always)]
pub(crate) unsafe fn next(slot: *mut u8) -> *mut u8 {
    // SAFETY: passed on to the caller.
    unsafe { slot.cast::<*mut u8>().read() }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn lists_are_cut_and_joined() {
        let mut words = [0_u64; 10];
        let mut list = SlotList::new();
        for word in &mut words {
            // SAFETY: the words are ours, each in the list once.
            unsafe { list.push((&raw mut *word).cast()) };
        }
        let all: Vec<_> = list.iter().collect();
        let mut first = list.split_off(4);
        assert_eq!((first.len(), list.len()), (4, 6));
        assert!(first.iter().chain(list.iter()).eq(all.iter().copied()));
        assert!(first.split_off(0).is_empty());
        list.prepend(first);
        list.prepend(SlotList::new());
        assert!(list.iter().eq(all.iter().copied()) && list.len() == 10);
        let run = list.take_run(|slot| slot == all[1] || slot == all[2]).unwrap();
        assert_eq!((run.first, run.last, run.len, list.len()), (all[0], all[2], 3, 7));
        assert_eq!(list.split_off(11).len(), 7);
        assert!(list.is_empty() && list.take_run(|_| true).is_none());
    }
}
