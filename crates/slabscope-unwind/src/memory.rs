//! Memory of our own for tables: mapped, and either kept as long as the process lives or given back.

use core::ptr::NonNull;
use core::slice;

use slabscope_os::{KERNEL_PAGE, map};

/// Bytes that are given back when this is dropped.
pub(crate) struct Scratch {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: it owns its bytes as a box would.
unsafe impl Send for Scratch {}

impl Scratch {
    /// So many zeros; `None` when the kernel refuses.
    pub(crate) fn new(len: usize) -> Option<Self> {
        let len = len.max(1);
        Some(Scratch { start: map::zeroed(len)?, len })
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: the mapping has `len` bytes, zeroed at least, for as long as `self` lives.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above, borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and all borrows of it have ended.
        unsafe { map::unmap(self.start, self.len) };
    }
}

/// Types that are valid when all their bytes are zero.
///
/// # Safety
/// They are.
pub(crate) unsafe trait Zeroed: Copy {}

// SAFETY: zero is a number.
unsafe impl Zeroed for u64 {}

/// A list that grows in a mapping of its own, up to a length that only costs addresses.
pub(crate) struct Growing<T: Zeroed> {
    start: NonNull<T>,
    room: usize,
    len: usize,
}

// SAFETY: it owns its values as a vector would.
unsafe impl<T: Zeroed + Send> Send for Growing<T> {}

impl<T: Zeroed> Growing<T> {
    /// An empty one, with room for so many; `None` when the kernel refuses.
    pub(crate) fn new(room: usize) -> Option<Self> {
        let room = room.max(1);
        let start = map::zeroed(room.checked_mul(size_of::<T>())?)?.cast();
        Some(Growing { start, room, len: 0 })
    }

    /// Appends; `None` when it is full.
    pub(crate) fn push(&mut self, value: T) -> Option<()> {
        if self.len == self.room {
            return None;
        }
        self.len += 1;
        *self.as_mut_slice().last_mut()? = value;
        Some(())
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        // SAFETY: `len` of the mapping's values were written, or are zeros.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as above, borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// The values, for as long as the process lives. The room behind them is given back.
    pub(crate) fn keep(self) -> &'static [T] {
        let kept = (self.len * size_of::<T>()).next_multiple_of(KERNEL_PAGE);
        let whole = (self.room * size_of::<T>()).next_multiple_of(KERNEL_PAGE);
        let (start, len) = (self.start, self.len);
        core::mem::forget(self);
        if kept < whole {
            // SAFETY: these pages of our mapping have no value in them that was pushed.
            unsafe { map::unmap(start.cast().add(kept), whole - kept) };
        }
        // SAFETY: the rest is never unmapped.
        unsafe { slice::from_raw_parts(start.as_ptr(), len) }
    }
}

impl<T: Zeroed> Drop for Growing<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and all borrows of it have ended.
        unsafe { map::unmap(self.start.cast(), self.room * size_of::<T>()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_pushed_is_kept_and_no_more_fits_than_there_is_room() {
        let mut list = Growing::<u64>::new(2000).unwrap();
        for n in 0..2000 {
            assert_eq!(list.push(n), Some(()));
        }
        assert_eq!(list.push(1), None);
        let mut short = Growing::<u64>::new(1 << 20).unwrap();
        short.push(7).unwrap();
        assert_eq!(short.keep(), [7]);
        assert!(list.keep().iter().copied().eq(0..2000));
    }
}
