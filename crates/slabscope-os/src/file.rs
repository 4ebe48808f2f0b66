//! Files, by descriptor.

use core::ffi::CStr;
use core::mem::MaybeUninit;
use core::time::Duration;

use crate::errno::{self, ErrnoGuard};
use crate::say::Decimal;

/// An error number of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

impl Errno {
    /// The file takes nothing just now.
    pub const WOULD_BLOCK: Errno = Errno(libc::EAGAIN);

    /// All names are taken.
    pub const BUSY: Errno = Errno(libc::EBUSY);

    /// A name is too long.
    pub const TOO_LONG: Errno = Errno(libc::ENAMETOOLONG);

    /// Nothing happened for too long.
    pub const TIMED_OUT: Errno = Errno(libc::ETIMEDOUT);

    /// There is no memory.
    pub const NO_MEMORY: Errno = Errno(libc::ENOMEM);

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
            libc::ENXIO => "it is a pipe that nobody reads, or no device is there",
            libc::EBUSY => "other processes write it, and what stands beside it",
            libc::ETIMEDOUT => "it took nothing for too long",
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
    /// Opens a file for writing, made if it is not there; a program we `exec` does not inherit it. A
    /// file that takes nothing, a pipe that nobody reads, never makes the caller wait.
    ///
    /// # Errors
    /// The kernel's.
    pub fn open_to_write(path: &CStr) -> Result<File, Errno> {
        open(path, libc::O_WRONLY | libc::O_CREAT | libc::O_CLOEXEC | libc::O_NONBLOCK)
    }

    /// Makes a file that is to be mapped, in place of what was there: that may be mapped by others.
    ///
    /// # Errors
    /// The kernel's.
    pub fn create_to_map(path: &CStr) -> Result<File, Errno> {
        remove(path);
        open(path, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC)
    }

    /// Locks the file for as long as it is open here, or in a child that has it from here. `false`
    /// when it is locked already. Where files cannot be locked, all may have it.
    pub fn lock(self) -> bool {
        let _errno = ErrnoGuard::new();
        // SAFETY: the call takes numbers.
        let locked = unsafe { libc::flock(self.0, libc::LOCK_EX | libc::LOCK_NB) };
        locked == 0 || errno::get() != libc::EWOULDBLOCK
    }

    /// Removes the file at `path`, if it still is this one.
    pub fn remove_at(self, path: &CStr) {
        let _errno = ErrnoGuard::new();
        let mut own = MaybeUninit::<libc::stat>::uninit();
        let mut there = MaybeUninit::<libc::stat>::uninit();
        // SAFETY: the calls fill the structures, or fail and they are not read.
        let same = unsafe {
            libc::fstat(self.0, own.as_mut_ptr()) == 0
                && libc::stat(path.as_ptr(), there.as_mut_ptr()) == 0
                && own.assume_init().st_ino == there.assume_init().st_ino
                && own.assume_init().st_dev == there.assume_init().st_dev
        };
        if same {
            remove(path);
        }
    }

    /// Whether it is an ordinary file, and not a device, a pipe or a socket.
    pub fn is_ordinary(self) -> bool {
        let _errno = ErrnoGuard::new();
        let mut status = MaybeUninit::<libc::stat>::uninit();
        // SAFETY: the call fills the structure, or fails and it is not read.
        unsafe {
            libc::fstat(self.0, status.as_mut_ptr()) == 0
                && status.assume_init().st_mode & libc::S_IFMT == libc::S_IFREG
        }
    }

    /// Its length, and what it takes of the disk, in bytes.
    pub fn sizes(self) -> Option<(u64, u64)> {
        let _errno = ErrnoGuard::new();
        let mut status = MaybeUninit::<libc::stat>::uninit();
        // SAFETY: the call fills the structure, or fails and it is not read.
        let status = unsafe {
            (libc::fstat(self.0, status.as_mut_ptr()) == 0).then(|| status.assume_init())?
        };
        Some((status.st_size.unsigned_abs(), status.st_blocks.unsigned_abs() * 512))
    }

    /// Makes the file at least `from + len` bytes long, and sees to it that the last `len` of them
    /// can be written through a mapping: the disk has room for them.
    ///
    /// # Errors
    /// The kernel's, or that the process may not have files that long.
    pub fn allocate(self, from: usize, len: usize) -> Result<(), Errno> {
        let _errno = ErrnoGuard::new();
        let (Ok(from_), Ok(len_)) = (libc::off_t::try_from(from), libc::off_t::try_from(len))
        else {
            return Err(Errno(libc::EFBIG));
        };
        // Beyond the limit the kernel would send a signal that ends the program.
        if length_limit().is_some_and(|limit| from.saturating_add(len) as u64 > limit) {
            return Err(Errno(libc::EFBIG));
        }
        // SAFETY: the call takes numbers.
        if unsafe { libc::fallocate(self.0, 0, from_, len_) } == 0 {
            return Ok(());
        }
        Err(Errno::last())
    }

    /// Makes the file `len` bytes long; bytes that were not there read as zero.
    ///
    /// # Errors
    /// The kernel's, or that the process may not have files that long.
    pub fn lengthen(self, len: usize) -> Result<(), Errno> {
        let _errno = ErrnoGuard::new();
        let Ok(len_) = libc::off_t::try_from(len) else { return Err(Errno(libc::EFBIG)) };
        if length_limit().is_some_and(|limit| len as u64 > limit) {
            return Err(Errno(libc::EFBIG));
        }
        // SAFETY: the call takes numbers.
        if unsafe { libc::ftruncate(self.0, len_) } == 0 { Ok(()) } else { Err(Errno::last()) }
    }

    /// The path by which the kernel knows it, into `buffer`; the length.
    pub fn path(self, buffer: &mut [u8]) -> Option<usize> {
        let mut link = [0_u8; 40];
        let number = Decimal::new(u64::from(self.0.unsigned_abs()));
        let name = b"/proc/self/fd/".iter().chain(number.as_str().as_bytes());
        // Zeroed, and longer than the longest name, so a NUL ends it.
        for (to, from) in link.iter_mut().zip(name) {
            *to = *from;
        }
        read_link(CStr::from_bytes_until_nul(&link).ok()?, buffer)
    }

    /// The descriptor's number, for the calls that map it.
    pub(crate) fn number(self) -> i32 {
        self.0
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

    /// Waits until the file takes something again; `false` when it does not in so long.
    pub fn wait_writable(self, longest: Duration) -> bool {
        let _errno = ErrnoGuard::new();
        let mut poll = libc::pollfd { fd: self.0, events: libc::POLLOUT, revents: 0 };
        let millis = i32::try_from(longest.as_millis()).unwrap_or(i32::MAX);
        loop {
            // SAFETY: one structure, ours.
            match unsafe { libc::poll(&raw mut poll, 1, millis) } {
                // The next write says what is wrong, if anything.
                1 => return true,
                -1 if errno::get() == libc::EINTR => {}
                _ => return false,
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

/// A file that is open to be read; closed by [`Source::close`] only.
#[derive(Debug)]
pub struct Source(File);

impl Source {
    /// Opens a file.
    ///
    /// # Errors
    /// The kernel's.
    pub fn open(path: &CStr) -> Result<Source, Errno> {
        Ok(Source(open(path, libc::O_RDONLY | libc::O_CLOEXEC)?))
    }

    /// Reads on into `buffer`; returns how many bytes came, 0 at the end.
    ///
    /// # Errors
    /// The kernel's. An interruption by a signal is not one.
    pub fn read(&self, buffer: &mut [u8]) -> Result<usize, Errno> {
        let _errno = ErrnoGuard::new();
        loop {
            // SAFETY: `buffer` is writable for its length.
            let got = unsafe { libc::read(self.0.0, buffer.as_mut_ptr().cast(), buffer.len()) };
            match usize::try_from(got) {
                Ok(got) => return Ok(got),
                Err(_) if errno::get() == libc::EINTR => {}
                Err(_) => return Err(Errno::last()),
            }
        }
    }

    /// Closes the file.
    pub fn close(self) {
        self.0.close();
    }
}

/// Reads a small file into `buffer`; returns how many bytes it got.
///
/// # Errors
/// The kernel's.
pub fn read_whole(path: &CStr, buffer: &mut [u8]) -> Result<usize, Errno> {
    let source = Source::open(path)?;
    let mut len = 0;
    let read = loop {
        match source.read(buffer.get_mut(len..).unwrap_or_default()) {
            Ok(0) => break Ok(len),
            Ok(got) => len += got,
            Err(why) => break Err(why),
        }
    };
    source.close();
    read
}

/// Reads where a symbolic link points into `buffer`; returns the length.
pub fn read_link(path: &CStr, buffer: &mut [u8]) -> Option<usize> {
    let _errno = ErrnoGuard::new();
    // SAFETY: `path` is a C string and `buffer` is writable for its length.
    let len = unsafe { libc::readlink(path.as_ptr(), buffer.as_mut_ptr().cast(), buffer.len()) };
    usize::try_from(len).ok()
}

/// Removes a file. `false` when the kernel refuses.
pub fn remove(path: &CStr) -> bool {
    let _errno = ErrnoGuard::new();
    // SAFETY: `path` is a C string.
    unsafe { libc::unlink(path.as_ptr()) == 0 }
}

/// How long files of this process may be, in bytes, if there is a limit.
fn length_limit() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is ours to write.
    let failed = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    (failed == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
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
