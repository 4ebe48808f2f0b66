//! Slices in mappings of their own: the recorder's only memory.

use core::ops::Deref;
use core::ptr::NonNull;

use slabscope_os::map;

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
        Some(Mapped { start: map::zeroed(bytes.max(1))?.cast(), len })
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
        // SAFETY: the mapping is ours, and all borrows of it have ended with `self`.
        unsafe { map::unmap(self.start.cast(), (self.len * size_of::<T>()).max(1)) };
    }
}
