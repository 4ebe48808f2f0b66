//! Files, by descriptor.

use core::ffi::CStr;

use crate::errno::{self, ErrnoGuard};

/// An error number of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

impl Errno {
    /// What the number means, in words, for the errors a trace file meets.
    pub fn text(self) -> &'static str {
        match self.0 {
            libc::ENOENT => "no such directory",
            libc::EACCES | libc::EPERM => "permission denied",
            libc::EISDIR => "it is a directory",
            libc::ENOTDIR => "a part of the path is not a directory",
            libc::ENOSPC => "no space left on the device",
            libc::EDQUOT => "the disk quota is used up",
            libc::EFBIG => "the file would be too large",
            libc::EROFS => "the file system is read-only",
            libc::EIO => "the device failed",
            libc::EMFILE | libc::ENFILE => "too many open files",
            libc::ENAMETOOLONG => "the name is too long",
            libc::ENOMEM => "no memory",
            libc::EAGAIN => "no more threads or memory allowed",
            libc::EPIPE => "nobody reads it",
            _ => "the kernel refused",
        }
    }

    fn last() -> Self {
        Errno(errno::get())
    }
}

/// An open file; closed by [`File::close`] only, since nothing here may be dropped by accident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File(i32);

impl File {
    /// Creates or empties a file for writing; a program we `exec` does not inherit it.
    ///
    /// # Errors
    /// The kernel's.
    pub fn create(path: &CStr) -> Result<File, Errno> {
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC | libc::O_CLOEXEC;
        open(path, flags)
    }

    /// Writes `bytes` once; returns how many the kernel took.
    ///
    /// # Errors
    /// The kernel's. An interruption by a signal is not one.
    pub fn write(self, bytes: &[u8]) -> Result<usize, Errno> {
        let _errno = ErrnoGuard::new();
        loop {
            // SAFETY: `bytes` is readable for its length.
            let written = unsafe { libc::write(self.0, bytes.as_ptr().cast(), bytes.len()) };
            match usize::try_from(written) {
                Ok(written) => return Ok(written),
                Err(_) if errno::get() == libc::EINTR => {}
                Err(_) => return Err(Errno::last()),
            }
        }
    }

    /// Cuts the file to `len` bytes and writes on from there. `false` when refused.
    pub fn cut(self, len: u64) -> bool {
        let _errno = ErrnoGuard::new();
        let Ok(len) = libc::off_t::try_from(len) else { return false };
        // SAFETY: both calls take numbers.
        unsafe {
            libc::ftruncate(self.0, len) == 0 && libc::lseek(self.0, len, libc::SEEK_SET) == len
        }
    }

    /// Closes the file.
    pub fn close(self) {
        let _errno = ErrnoGuard::new();
        // SAFETY: the caller is done with the descriptor.
        unsafe { libc::close(self.0) };
    }
}

/// Reads a small file into `buffer`; returns how many bytes it got.
///
/// # Errors
/// The kernel's.
pub fn read_whole(path: &CStr, buffer: &mut [u8]) -> Result<usize, Errno> {
    let file = open(path, libc::O_RDONLY | libc::O_CLOEXEC)?;
    let _errno = ErrnoGuard::new();
    let mut len = 0;
    while let Some(room) = buffer.get_mut(len..).filter(|room| !room.is_empty()) {
        // SAFETY: `room` is writable for its length.
        let got = unsafe { libc::read(file.0, room.as_mut_ptr().cast(), room.len()) };
        match usize::try_from(got) {
            Ok(0) => break,
            Ok(got) => len += got,
            Err(_) if errno::get() == libc::EINTR => {}
            Err(_) => {
                let error = Errno::last();
                file.close();
                return Err(error);
            }
        }
    }
    file.close();
    Ok(len)
}

/// Reads where a symbolic link points into `buffer`; returns the length.
pub fn read_link(path: &CStr, buffer: &mut [u8]) -> Option<usize> {
    let _errno = ErrnoGuard::new();
    // SAFETY: `path` is a C string and `buffer` is writable for its length.
    let len = unsafe { libc::readlink(path.as_ptr(), buffer.as_mut_ptr().cast(), buffer.len()) };
    usize::try_from(len).ok()
}

fn open(path: &CStr, flags: i32) -> Result<File, Errno> {
    let _errno = ErrnoGuard::new();
    loop {
        // SAFETY: `path` is a C string.
        let descriptor = unsafe { libc::open(path.as_ptr(), flags, 0o644) };
        if descriptor >= 0 {
            return Ok(File(descriptor));
        }
        if errno::get() != libc::EINTR {
            return Err(Errno::last());
        }
    }
}
