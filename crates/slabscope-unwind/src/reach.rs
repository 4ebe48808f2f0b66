//! The memory that may be read while a stack is walked.

use slabscope_os::registers::Registers;

/// Where a walk begins, and which stacks it may come to.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Where the thread stands.
    pub registers: Registers,
    /// The thread's own stack: its lowest address, and the one after its end. Equal when unknown.
    pub stack: (usize, usize),
    /// For other stacks: up to where memory can be read from an address on, 0 if not at all. That
    /// memory stays for as long as the thread, or what it was called from, stands on it.
    pub elsewhere: fn(usize) -> usize,
}

/// What may be read now: the rest of one stack.
pub(crate) struct Reach<'a> {
    place: &'a Place,
    low: usize,
    high: usize,
}

impl<'a> Reach<'a> {
    /// Nothing yet.
    pub(crate) fn new(place: &'a Place) -> Self {
        Reach { place, low: 0, high: 0 }
    }

    /// Goes to the stack that `sp` lies in; `false` when there is none.
    #[inline]
    pub(crate) fn enter(&mut self, sp: usize) -> bool {
        let (start, end) = self.place.stack;
        self.high = if (start..end).contains(&sp) { end } else { (self.place.elsewhere)(sp) };
        self.low = sp;
        self.high > sp
    }

    /// The word at an address.
    #[inline(always)]
    pub(crate) fn word(&mut self, address: usize) -> Option<usize> {
        if address < self.low || address > self.high.saturating_sub(8) {
            return self.word_beyond(address);
        }
        // SAFETY: the word lies in the stack that the thread stands on or was called from, by
        // `Place`; whatever else its bytes are, they are initialised as far as the machine goes.
        Some(unsafe { load(address) })
    }

    /// Two words from an address on that is at or above `low`, if they can be read at once.
    #[inline(always)]
    pub(crate) fn pair_from(&self, low: usize, address: usize) -> Option<(usize, usize)> {
        let room = self.high.wrapping_sub(16).wrapping_sub(low);
        if address.wrapping_sub(low) > room || low.wrapping_add(16) > self.high {
            return None;
        }
        // SAFETY: as in `word`: `low` is in the stack, and both words lie between it and the end.
        Some(unsafe { (load(address), load(address + 8)) })
    }

    /// A stack whose end nobody knows is looked at in pieces.
    #[cold]
    fn word_beyond(&mut self, address: usize) -> Option<usize> {
        let (start, end) = self.place.stack;
        if address < self.low || (start..end).contains(&self.low) {
            return None;
        }
        let high = (self.place.elsewhere)(address);
        if high.checked_sub(address)? < 8 {
            return None;
        }
        (self.low, self.high) = (address, high);
        // SAFETY: as in `word`.
        Some(unsafe { load(address) })
    }
}

/// # Safety
/// The word can be read.
#[inline(always)]
unsafe fn load(address: usize) -> usize {
    // SAFETY: passed on to the caller; unaligned, since a broken frame may say so.
    unsafe { core::ptr::with_exposed_provenance::<usize>(address).read_unaligned() }
}
