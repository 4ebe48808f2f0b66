//! Where a thread's stack lies, found without a lock.
//!
//! `pthread_getattr_np` takes a lock of the thread it asks about. Whoever was interrupted while it
//! held that lock may wait for us in a signal handler; then asking would wait for ever. So we look
//! where the C library keeps the figures, in the thread's own record. That place is in no header:
//! it is found in the record of a thread of ours, whose stack we know, since glibc keeps address and
//! size next to each other there.

use core::sync::atomic::{AtomicUsize, Ordering};

use crate::KERNEL_PAGE;

/// Where in a thread's record the two figures are, in bytes; 0 while that is not known.
static PLACE: AtomicUsize = AtomicUsize::new(0);

/// The end of the main thread's stack; 0 while that is not known.
static MAIN_END: AtomicUsize = AtomicUsize::new(0);

/// How far to look, in bytes; glibc's record has some 2,300.
const RECORD_LEN: usize = 2048;

/// The main thread's stack where no limit is set, in bytes.
const MAIN_LEN: usize = 8 << 20;

/// Learns where the figures are, from a thread just made on the `len` bytes from `stack` on.
///
/// # Safety
/// The thread has not been joined.
pub(crate) unsafe fn learn(thread: libc::pthread_t, stack: usize, len: usize) {
    if PLACE.load(Ordering::Relaxed) != 0 {
        return;
    }
    let record: *const usize = core::ptr::with_exposed_provenance(thread as usize);
    // glibc puts the record at the upper end of the stack, so what we read is ours.
    let inside = (stack..stack + len).contains(&record.addr());
    let words = (stack + len).saturating_sub(record.addr()).min(RECORD_LEN) / size_of::<usize>();
    if inside {
        for index in 1..words.saturating_sub(1) {
            // SAFETY: the words lie in the stack, which is mapped until the thread is joined.
            let pair = unsafe { (record.add(index).read(), record.add(index + 1).read()) };
            if pair == (stack, len) {
                PLACE.store(index * size_of::<usize>(), Ordering::Relaxed);
                break;
            }
        }
    }
    // SAFETY: the name is a C string; the C library defines it as an address that never changes.
    unsafe {
        let end = libc::dlsym(libc::RTLD_DEFAULT, c"__libc_stack_end".as_ptr()).cast::<usize>();
        if !end.is_null() {
            MAIN_END.store((*end).next_multiple_of(KERNEL_PAGE), Ordering::Relaxed);
        }
    }
}

/// The lowest address that the thread may use as stack, and how many bytes there are from there;
/// `None` when the C library keeps them in another way than glibc does.
///
/// # Safety
/// The thread has not ended.
pub(crate) unsafe fn of(thread: libc::pthread_t) -> Option<(usize, usize)> {
    let place = PLACE.load(Ordering::Relaxed);
    if place == 0 {
        return None;
    }
    let record: *const u8 = core::ptr::with_exposed_provenance(thread as usize);
    // SAFETY: all records are alike, and the thread's is there as long as the thread; the third figure,
    // behind the two, is the size of the guard.
    let [base, len, guard] = unsafe { record.add(place).cast::<[usize; 3]>().read() };
    if base == 0 {
        return main_stack();
    }
    let len = len.checked_sub(guard)?;
    (len > 0).then_some((base.checked_add(guard)?, len))
}

/// The main thread's was made by the kernel, and grows up to a limit.
fn main_stack() -> Option<(usize, usize)> {
    let end = MAIN_END.load(Ordering::Relaxed);
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is ours to write.
    let failed = unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) };
    let len = match limit.rlim_cur {
        len if failed == 0 && len != libc::RLIM_INFINITY => usize::try_from(len).ok()?,
        _ => MAIN_LEN,
    };
    Some((end.checked_sub(len).filter(|_| end != 0)?, len))
}

#[cfg(test)]
mod tests {
    use core::mem::MaybeUninit;
    use core::ptr::null_mut;

    use super::*;
    use crate::thread::{self, Handle};

    extern crate std;

    extern "C" fn nothing(_: *mut core::ffi::c_void) -> *mut core::ffi::c_void {
        null_mut()
    }

    /// What the C library says, for a thread that nothing interrupts.
    fn as_libc_says() -> (usize, usize) {
        let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
        let (mut base, mut len) = (null_mut(), 0);
        // SAFETY: the first call fills the attributes, the second reads them.
        unsafe {
            assert_eq!(libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()), 0);
            libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut base, &raw mut len);
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
        }
        (base.addr(), len)
    }

    #[test]
    fn stacks_lie_where_the_c_library_says() {
        const LEN: usize = 64 * 1024;
        let stack = thread::stack_for_spawn(LEN).expect("a stack");
        // SAFETY: the function takes nothing; the thread is joined once, and then its stack unmapped.
        unsafe {
            let handle = thread::spawn(stack, LEN, nothing, null_mut()).expect("a thread");
            handle.join();
            thread::unmap_stack(stack, LEN);
        }
        for size in [100_000, 1 << 20, 3 << 20] {
            let thread = std::thread::Builder::new().stack_size(size).spawn(|| {
                // SAFETY: this thread has not ended.
                let found = unsafe { Handle::current().stack() };
                assert_eq!(found, Some(as_libc_says()));
            });
            thread.expect("a thread").join().expect("it ends well");
        }
        let local = 0_u8;
        // SAFETY: this thread has not ended.
        let (base, len) = unsafe { Handle::current().stack() }.expect("a stack");
        assert!((base..base + len).contains(&(&raw const local).addr()));
        let main = main_stack().expect("the main thread's");
        assert!(main.0 > 0 && main.1 > 0);
    }
}
