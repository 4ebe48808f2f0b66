//! Slices in mappings of their own: the recorder's only memory.

use core::ops::{Deref, Range};
use core::ptr::NonNull;

use slabscope_os::file::File;
use slabscope_os::{advise, map};

use crate::memory::{self, Extent};

/// Types that are valid when all their bytes are zero, and that many threads may share.
///
/// # Safety
/// All-zero bytes are a valid value, and dropping it does nothing.
pub unsafe trait Zeroed: Sync {}

// SAFETY: zero is a number.
unsafe impl Zeroed for core::sync::atomic::AtomicU64 {}
// SAFETY: zero is a number.
unsafe impl Zeroed for core::sync::atomic::AtomicU32 {}
// SAFETY: zero is a number.
unsafe impl Zeroed for u8 {}
// SAFETY: made of atomics, for which zero is valid.
unsafe impl Zeroed for slabscope_os::rseq::RingHead {}

/// A slice of `len` zeroed values; pages nobody touches cost no memory.
#[derive(Debug)]
pub struct Mapped<T: Zeroed> {
    start: NonNull<T>,
    len: usize,
    /// Whether the mapping is its own, and not a [`Region`]'s.
    owned: bool,
}

// SAFETY: it owns its values as a box would, and gives out shared references only (exclusive ones
// for an exclusive borrow); `T: Zeroed` is `Sync`.
unsafe impl<T: Zeroed> Sync for Mapped<T> {}
// SAFETY: as above; the mapping is not tied to a thread.
unsafe impl<T: Zeroed> Send for Mapped<T> {}

impl<T: Zeroed> Mapped<T> {
    /// Maps `len` zeroed values; `None` when the kernel refuses.
    pub fn new(len: usize) -> Option<Self> {
        let bytes = len.checked_mul(size_of::<T>())?;
        const { assert!(align_of::<T>() <= slabscope_os::KERNEL_PAGE) };
        let start = map::zeroed(bytes.max(1))?;
        let at = start.addr().get();
        memory::enter(at..at + bytes.max(1));
        Some(Mapped { start: start.cast(), len, owned: true })
    }

    /// Asks for large kernel pages behind it: for tables that are looked into at random.
    pub(crate) fn advise_large_pages(&self) {
        if self.owned {
            // SAFETY: the mapping is ours, anonymous, and so long.
            unsafe { advise::large_pages(self.start.cast(), size_of_val(&**self)) };
        }
    }

    /// Where the first value lies.
    pub fn as_ptr(&self) -> *const T {
        self.start.as_ptr()
    }

    /// All of it, to write.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: the mapping holds `len` values, zeroed at least, and is borrowed exclusively.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: Zeroed> Deref for Mapped<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the mapping holds `len` values, zeroed at least, for as long as `self` lives.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Zeroed> Drop for Mapped<T> {
    fn drop(&mut self) {
        if !self.owned {
            return;
        }
        memory::leave(self.start.addr().get());
        // SAFETY: the mapping is ours, and all borrows of it have ended with `self`.
        unsafe { map::unmap(self.start.cast(), (self.len * size_of::<T>()).max(1)) };
    }
}

/// One mapping that several slices lie in.
#[derive(Debug)]
pub(crate) struct Region {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: it is a range of memory, tied to no thread; it is only divided, by `slice`.
unsafe impl Sync for Region {}
// SAFETY: as above.
unsafe impl Send for Region {}

impl Region {
    /// Of memory that ends with the process; `None` when the kernel refuses.
    pub(crate) fn of_memory(len: usize) -> Option<Self> {
        Some(Region { start: map::zeroed(len)?, len })
    }

    /// Of the first `len` bytes of a file; `None` when the kernel refuses.
    pub(crate) fn of_file(file: File, len: usize) -> Option<Self> {
        Some(Region { start: map::shared(file, len)?, len })
    }

    /// `len` values that lie `at` bytes from the start; `None` if they do not fit or are not aligned.
    ///
    /// # Safety
    /// The region outlives the slice, its bytes there are zero or values of the type, and of slices
    /// that are written as a whole ([`Mapped::as_mut_slice`]) none overlaps another.
    pub(crate) unsafe fn slice<T: Zeroed>(&self, at: usize, len: usize) -> Option<Mapped<T>> {
        let end = len.checked_mul(size_of::<T>())?.checked_add(at)?;
        if end > self.len || !at.is_multiple_of(align_of::<T>()) {
            return None;
        }
        // SAFETY: `at` lies in the mapping, by the check above.
        let start = unsafe { self.start.add(at) };
        Some(Mapped { start: start.cast(), len, owned: false })
    }
}

impl Region {
    /// The addresses and memory of a part, in bytes from the start.
    pub(crate) fn extent(&self, part: Range<usize>) -> Extent {
        let end = part.end.min(self.len);
        // SAFETY: a part begins inside the region, or is empty at its end.
        let start = unsafe { self.start.add(part.start.min(end)) };
        Extent::of(start, end.saturating_sub(part.start))
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and the slices of it are gone, by the promise of `slice`.
        unsafe { map::unmap(self.start, self.len) };
    }
}
