//! This process's own memory, read where it may not be there: the kernel copies it, and says so
//! where nothing is mapped, instead of ending the program.

use crate::KERNEL_PAGE;
use crate::errno::ErrnoGuard;
use crate::file::Errno;

/// Pages that one call asks for.
const PAGES: usize = 64;

/// Copies memory from `address` on into `buffer`, as much as there is; returns how much that was.
///
/// # Errors
/// When the kernel does not let a process read its own memory that way.
pub fn read(address: usize, buffer: &mut [u8]) -> Result<usize, Errno> {
    let _errno = ErrnoGuard::new();
    let mut done = 0;
    while let Some(room) = buffer.get_mut(done..).filter(|room| !room.is_empty()) {
        let at = address.wrapping_add(done);
        let asked = room.len().min(PAGES * KERNEL_PAGE - at % KERNEL_PAGE);
        let room = room.get_mut(..asked).unwrap_or_default();
        match copied(at, asked, room)? {
            0 => break,
            got => done += got,
        }
    }
    Ok(done)
}

/// How many bytes from `address` on can be read at this moment, up to the end of a page and to
/// `PAGES` pages at most.
pub fn readable(address: usize) -> usize {
    let _errno = ErrnoGuard::new();
    let mut probe = [0_u8; PAGES];
    let mut remote = [libc::iovec { iov_base: core::ptr::null_mut(), iov_len: 1 }; PAGES];
    let page = address / KERNEL_PAGE * KERNEL_PAGE;
    for (index, part) in remote.iter_mut().enumerate() {
        part.iov_base = core::ptr::without_provenance_mut(page.wrapping_add(index * KERNEL_PAGE));
    }
    let pages = transfer(&mut probe, &remote).unwrap_or(0);
    (pages * KERNEL_PAGE).saturating_sub(address - page)
}

/// One call: `len` bytes from `at`, which span [`PAGES`] pages at most.
fn copied(at: usize, len: usize, room: &mut [u8]) -> Result<usize, Errno> {
    let mut remote = [libc::iovec { iov_base: core::ptr::null_mut(), iov_len: 0 }; PAGES];
    let (mut from, end) = (at, at.saturating_add(len));
    // The kernel copies a part whole or not at all, so no part leaves its page.
    for part in &mut remote {
        let next = end.min((from / KERNEL_PAGE + 1).saturating_mul(KERNEL_PAGE));
        part.iov_base = core::ptr::without_provenance_mut(from);
        part.iov_len = next.saturating_sub(from);
        from = next;
    }
    transfer(room, &remote)
}

/// What the kernel copies of these parts, one after the other, up to the first that is not there.
fn transfer(room: &mut [u8], remote: &[libc::iovec; PAGES]) -> Result<usize, Errno> {
    let local = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
    // SAFETY: the local range is ours to write; the remote ones may be anything, and the kernel
    // checks them.
    let copied = unsafe {
        let process = libc::getpid();
        libc::process_vm_readv(process, &raw const local, 1, remote.as_ptr(), PAGES as u64, 0)
    };
    match usize::try_from(copied) {
        Ok(copied) => Ok(copied),
        _ if crate::errno::get() == libc::EFAULT => Ok(0),
        _ => Err(Errno(crate::errno::get())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map;

    #[test]
    fn what_is_mapped_is_read_and_no_more() {
        let mapping = map::reserve(200 * KERNEL_PAGE).unwrap();
        // SAFETY: the range is the first part of the mapping.
        assert!(unsafe { map::commit(mapping, 100 * KERNEL_PAGE) });
        let start = mapping.addr().get();
        extern crate std;
        let mut buffer = std::vec![1_u8; 300 * KERNEL_PAGE];
        assert_eq!(read(start + 5, &mut buffer), Ok(100 * KERNEL_PAGE - 5));
        assert!(buffer[..100 * KERNEL_PAGE - 5].iter().all(|&byte| byte == 0));
        assert_eq!(read(start + 100 * KERNEL_PAGE, &mut buffer), Ok(0));
        assert_eq!(read(8, &mut [0; 8]), Ok(0), "nothing is mapped there");
        assert_eq!(readable(start + 90 * KERNEL_PAGE + 7), 10 * KERNEL_PAGE - 7);
        assert_eq!(readable(start), PAGES * KERNEL_PAGE);
        assert_eq!(readable(start + 150 * KERNEL_PAGE), 0);
        // SAFETY: the mapping is the test's own.
        unsafe { map::unmap(mapping, 200 * KERNEL_PAGE) };
    }
}
