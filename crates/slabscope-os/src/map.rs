//! Mappings: address space, and the memory behind it.
//!
//! Lengths are in bytes and rounded up to kernel pages by the kernel; addresses are multiples of
//! [`KERNEL_PAGE`](crate::KERNEL_PAGE).

use core::ptr::{NonNull, null_mut};

use crate::errno::ErrnoGuard;
use crate::file::File;

/// Reserves `len` bytes of address space that nobody may touch and that costs no memory.
///
/// `None` when the kernel refuses (address space limit, strict overcommit).
pub fn reserve(len: usize) -> Option<NonNull<u8>> {
    map(len, libc::PROT_NONE)
}

/// Maps `len` bytes of zeros; memory is used only for pages that are written.
///
/// `None` when the kernel refuses.
pub fn zeroed(len: usize) -> Option<NonNull<u8>> {
    map(len, libc::PROT_READ | libc::PROT_WRITE)
}

/// Maps the first `len` bytes of a file, so that what is written there is in the file whatever
/// becomes of the process. Writing to a page the disk has no room for would end the program: see
/// [`File::allocate`].
///
/// `None` when the kernel refuses.
pub fn shared(file: File, len: usize) -> Option<NonNull<u8>> {
    let _errno = ErrnoGuard::new();
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: without MAP_FIXED the kernel picks a place where nothing else is mapped.
    let address =
        unsafe { libc::mmap(null_mut(), len, protection, libc::MAP_SHARED, file.number(), 0) };
    if address == libc::MAP_FAILED {
        return None;
    }
    NonNull::new(address.cast())
}

fn map(len: usize, protection: i32) -> Option<NonNull<u8>> {
    let _errno = ErrnoGuard::new();
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: without MAP_FIXED the kernel picks a place where nothing else is mapped.
    let address = unsafe { libc::mmap(null_mut(), len, protection, flags, -1, 0) };
    if address == libc::MAP_FAILED {
        return None;
    }
    NonNull::new(address.cast())
}

/// Makes reserved address space usable; it reads as zeros. `false` when the kernel refuses.
///
/// # Safety
/// The range lies inside a mapping the caller owns.
#[must_use]
pub unsafe fn commit(address: NonNull<u8>, len: usize) -> bool {
    // SAFETY: passed on to the caller.
    unsafe { protect(address, len, libc::PROT_READ | libc::PROT_WRITE) }
}

/// Makes a range fault on every access, and keeps it mapped: a guard. `false` when refused.
///
/// # Safety
/// The range lies inside a mapping the caller owns, and nobody will touch it.
#[must_use]
pub unsafe fn guard(address: NonNull<u8>, len: usize) -> bool {
    // SAFETY: passed on to the caller.
    unsafe { protect(address, len, libc::PROT_NONE) }
}

/// # Safety
/// The range lies inside a mapping the caller owns, and nobody relies on access it loses.
unsafe fn protect(address: NonNull<u8>, len: usize, protection: i32) -> bool {
    let _errno = ErrnoGuard::new();
    // SAFETY: the range is the caller's own.
    unsafe { libc::mprotect(address.as_ptr().cast(), len, protection) == 0 }
}

/// Gives the memory behind a range back to the kernel; it reads as zeros afterwards.
///
/// `false` when the kernel refuses, and the range keeps its contents.
///
/// # Safety
/// The range lies inside an anonymous mapping the caller owns, and its contents are not needed.
#[must_use]
pub unsafe fn discard(address: NonNull<u8>, len: usize) -> bool {
    let _errno = ErrnoGuard::new();
    // SAFETY: the range is the caller's own and holds nothing of use.
    unsafe { libc::madvise(address.as_ptr().cast(), len, libc::MADV_DONTNEED) == 0 }
}

/// Has a range read as zeros in every child of a fork. `false` when the kernel refuses.
///
/// # Safety
/// The range lies inside an anonymous mapping, and its contents are not needed in a child.
pub unsafe fn empty_in_children(address: NonNull<u8>, len: usize) -> bool {
    let _errno = ErrnoGuard::new();
    // SAFETY: passed on to the caller; in this process nothing changes.
    unsafe { libc::madvise(address.as_ptr().cast(), len, libc::MADV_WIPEONFORK) == 0 }
}

/// How many bytes of a range have memory behind them, in whole kernel pages; 0 where nothing is mapped.
pub fn resident(address: NonNull<u8>, len: usize) -> usize {
    const PAGES: usize = 4096;
    let _errno = ErrnoGuard::new();
    let mut pages = [0_u8; PAGES];
    let (mut at, mut resident) = (0, 0);
    while at < len {
        let part = (len - at).min(PAGES * crate::KERNEL_PAGE);
        let start = address.as_ptr().wrapping_add(at).cast();
        // SAFETY: the kernel reads no memory of the range, and writes a byte for each of its pages.
        if unsafe { libc::mincore(start, part, pages.as_mut_ptr()) } == 0 {
            let count = part.div_ceil(crate::KERNEL_PAGE);
            let there = pages.iter().take(count).filter(|&&page| page & 1 == 1);
            resident += there.count() * crate::KERNEL_PAGE;
        }
        at += part;
    }
    resident
}

/// Ends a mapping.
///
/// # Safety
/// The range is a mapping the caller owns, and nobody will touch it.
pub unsafe fn unmap(address: NonNull<u8>, len: usize) {
    let _errno = ErrnoGuard::new();
    // SAFETY: the range is the caller's own. A failure would leave it mapped, which harms nobody.
    unsafe { libc::munmap(address.as_ptr().cast(), len) };
}
