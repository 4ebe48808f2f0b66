//! Threads: their names, ids, stacks and ends.

use core::ffi::{c_char, c_void};
use core::mem::MaybeUninit;
use core::ptr::{NonNull, null_mut};

use crate::errno::ErrnoGuard;
use crate::file::Errno;
use crate::map;
use crate::signal::Blocked;
use crate::thread_stack;

/// Room for a thread's name, its closing NUL included.
pub const NAME_LEN: usize = 16;

/// The calling thread's id, as the kernel and the debugger know it.
pub fn id() -> u64 {
    // SAFETY: gettid takes nothing and cannot fail.
    u64::from(unsafe { libc::gettid() }.unsigned_abs())
}

/// The calling thread's name, padded with NULs.
pub fn name() -> [u8; NAME_LEN] {
    let _errno = ErrnoGuard::new();
    let mut name = [0; NAME_LEN];
    // SAFETY: PR_GET_NAME writes at most sixteen bytes.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    name
}

/// Names the calling thread.
pub fn set_name(name: &core::ffi::CStr) {
    let _errno = ErrnoGuard::new();
    // SAFETY: PR_SET_NAME reads at most sixteen bytes of a C string.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr().cast::<c_char>()) };
}

/// A thread as the C library knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(libc::pthread_t);

impl Handle {
    /// The calling thread.
    pub fn current() -> Self {
        // SAFETY: pthread_self takes nothing and cannot fail.
        Handle(unsafe { libc::pthread_self() })
    }

    /// The lowest address and the length in bytes of the thread's stack. Takes no lock and allocates
    /// nothing.
    ///
    /// `None` before the first [`spawn`] of the process, and where the C library is not glibc.
    ///
    /// # Safety
    /// The thread has not ended.
    pub unsafe fn stack(self) -> Option<(usize, usize)> {
        let _errno = ErrnoGuard::new();
        // SAFETY: passed on to the caller.
        unsafe { thread_stack::of(self.0) }
    }

    /// Waits for the thread's end.
    ///
    /// # Safety
    /// The thread came from [`spawn`], and this is the only call for it.
    pub unsafe fn join(self) {
        let _errno = ErrnoGuard::new();
        // SAFETY: passed on to the caller.
        unsafe { libc::pthread_join(self.0, null_mut()) };
    }

    /// As [`Handle::join`], if the thread has ended; `false` if it has not, and it can be joined yet.
    ///
    /// # Safety
    /// As [`Handle::join`], unless it returns `false`.
    pub unsafe fn try_join(self) -> bool {
        let _errno = ErrnoGuard::new();
        // SAFETY: passed on to the caller.
        unsafe { libc::pthread_tryjoin_np(self.0, null_mut()) == 0 }
    }
}

/// Starts a thread that runs `main(argument)` on a stack of its own, with all signals blocked.
///
/// `std::thread::spawn` would allocate on the heap that is being traced; this does not. The stack
/// is never given back, since the thread may still stand on it when it is joined.
///
/// # Errors
/// The kernel's, when there is no memory or no more threads are allowed.
///
/// # Safety
/// `argument` is what `main` expects, and lives until the thread ends.
pub unsafe fn spawn(
    stack: NonNull<u8>,
    stack_len: usize,
    main: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
) -> Result<Handle, Errno> {
    // The new thread begins with the mask of its maker.
    let _signals = Blocked::new();
    // SAFETY: passed on to the caller.
    unsafe { spawn_with_signals(stack, stack_len, main, argument) }
}

/// As [`spawn`], with the signal mask of the calling thread.
///
/// # Errors
/// As [`spawn`].
///
/// # Safety
/// As [`spawn`].
pub unsafe fn spawn_with_signals(
    stack: NonNull<u8>,
    stack_len: usize,
    main: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
) -> Result<Handle, Errno> {
    let _errno = ErrnoGuard::new();
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let mut thread = 0;
    // SAFETY: the attributes are initialised before they are read; the stack is the caller's, and
    // `main` and `argument` fit by its promise.
    let failed = unsafe {
        libc::pthread_attr_init(attributes.as_mut_ptr());
        libc::pthread_attr_setstack(attributes.as_mut_ptr(), stack.as_ptr().cast(), stack_len);
        let failed = libc::pthread_create(&raw mut thread, attributes.as_ptr(), main, argument);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        failed
    };
    if failed != 0 {
        return Err(Errno(failed));
    }
    // SAFETY: whoever joins the thread has to know of it first.
    unsafe { thread_stack::learn(thread, stack.addr().get(), stack_len) };
    Ok(Handle(thread))
}

/// A stack for [`spawn`]: `len` bytes above one guard page. `None` when there is no memory.
pub fn stack_for_spawn(len: usize) -> Option<NonNull<u8>> {
    let whole = map::zeroed(len + crate::KERNEL_PAGE)?;
    // SAFETY: the first page of a mapping just made, which nobody uses yet. Without the guard the
    // thread would still be right.
    let _ = unsafe { map::guard(whole, crate::KERNEL_PAGE) };
    // SAFETY: the mapping is one page longer than `len`.
    Some(unsafe { whole.add(crate::KERNEL_PAGE) })
}

/// Gives back a stack from [`stack_for_spawn`].
///
/// # Safety
/// It came from there with the same `len`, and the thread on it was joined.
pub unsafe fn unmap_stack(stack: NonNull<u8>, len: usize) {
    // SAFETY: the mapping begins one page below, by `stack_for_spawn`.
    unsafe { map::unmap(stack.sub(crate::KERNEL_PAGE), len + crate::KERNEL_PAGE) };
}

/// A hook that runs when a thread ends, for threads that asked for it.
#[derive(Clone, Copy, Debug)]
pub struct ExitHook(libc::pthread_key_t);

impl ExitHook {
    /// Makes a hook. `None` when the process has used up its keys.
    pub fn new(hook: unsafe extern "C" fn(*mut c_void)) -> Option<Self> {
        let _errno = ErrnoGuard::new();
        let mut key = 0;
        // SAFETY: `key` is ours to write, the hook lives as long as the program.
        let failed = unsafe { libc::pthread_key_create(&raw mut key, Some(hook)) };
        (failed == 0).then_some(ExitHook(key))
    }

    /// Asks for the hook to run with `value`, which is not null, when the calling thread ends.
    ///
    /// May call the C allocator. `false` when that had no memory.
    pub fn arm(self, value: NonNull<c_void>) -> bool {
        let _errno = ErrnoGuard::new();
        // SAFETY: the key exists; libc only keeps the pointer.
        unsafe { libc::pthread_setspecific(self.0, value.as_ptr()) == 0 }
    }

    /// The hook's number, to make it again from.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The hook with this number, which came from [`ExitHook::number`].
    pub fn from_number(number: u32) -> Self {
        ExitHook(number)
    }
}
