//! Barriers that one thread issues for all: the slow side of an asymmetric protocol.
//!
//! The fast side orders a store before a later load with a compiler fence only; the slow side
//! calls [`process`] between its own store and load. One of the two then sees the other.

use core::sync::atomic::{AtomicU8, Ordering, fence};

use crate::errno::ErrnoGuard;
use crate::map;

const UNKNOWN: u8 = 0;
/// membarrier restarts rseq sections too.
const RSEQ: u8 = 1;
/// membarrier orders memory only.
const MEMORY: u8 = 2;
/// No membarrier: a page's protection is flipped, which interrupts every CPU that runs us.
const PAGE: u8 = 3;

/// What [`prepare`] found. Relaxed: each value is right by itself, and finding it twice is harmless.
static METHOD: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Registers the process with the kernel; called before the first barrier, again in a fork's child.
pub fn prepare() {
    let _errno = ErrnoGuard::new();
    let command = |command: i32| {
        // SAFETY: membarrier takes two numbers and touches no memory of ours.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    };
    let memory = command(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    let rseq = command(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ);
    let method = match (memory, rseq) {
        (true, true) => RSEQ,
        (true, false) => MEMORY,
        (false, _) => PAGE,
    };
    METHOD.store(method, Ordering::Relaxed);
}

/// Whether [`process_and_rseq`] can do what it says.
pub fn restarts_rseq() -> bool {
    METHOD.load(Ordering::Relaxed) == RSEQ
}

/// A full memory barrier on every thread of the process.
pub fn process() {
    fence(Ordering::SeqCst);
    let done = match METHOD.load(Ordering::Relaxed) {
        RSEQ | MEMORY => membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED),
        _ => false,
    };
    if !done {
        flip_page();
    }
    fence(Ordering::SeqCst);
}

/// As [`process`], and every rseq section under way starts again before it commits.
///
/// Only where [`restarts_rseq`] says so.
pub fn process_and_rseq() {
    fence(Ordering::SeqCst);
    if !membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ) {
        process();
    }
    fence(Ordering::SeqCst);
}

fn membarrier(command: i32) -> bool {
    let _errno = ErrnoGuard::new();
    // SAFETY: membarrier takes two numbers and touches no memory of ours.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

/// Takes access from a page just written: the kernel must tell every CPU that runs a thread of
/// ours, by an interrupt, which is a barrier there.
fn flip_page() {
    let Some(page) = map::zeroed(crate::KERNEL_PAGE) else { return };
    // SAFETY: the page was just mapped and is known to nobody else.
    unsafe {
        page.as_ptr().write_volatile(1);
        let _ = map::guard(page, crate::KERNEL_PAGE);
        map::unmap(page, crate::KERNEL_PAGE);
    }
}
