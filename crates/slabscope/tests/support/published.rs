//! A global allocator that publishes what it has done in a file that outlives the process, to hold
//! the trace of a killed program against.

use std::alloc::{GlobalAlloc, Layout};
use std::fs;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use slabscope::Slabscope;

use super::Replayed;

/// Slabscope, and counts of operations that have come to their end.
pub(crate) struct Published(pub(crate) Slabscope);

/// Two counts, allocations and frees, in memory that outlives the process.
static COUNTS: AtomicPtr<[AtomicU64; 2]> = AtomicPtr::new(std::ptr::null_mut());

/// Before there is such memory.
static EARLY: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

fn count(which: usize) {
    // SAFETY: null, or memory that stays mapped as long as the process lives.
    let counts = unsafe { COUNTS.load(Ordering::Acquire).as_ref() }.unwrap_or(&EARLY);
    counts[which].fetch_add(1, Ordering::Release);
}

// SAFETY: everything is passed on; counting changes nothing. `realloc` is the trait's own, so it is
// made of the others.
unsafe impl GlobalAlloc for Published {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: passed on to the caller.
        let object = unsafe { self.0.alloc(layout) };
        if !object.is_null() {
            count(0);
        }
        object
    }

    unsafe fn dealloc(&self, object: *mut u8, layout: Layout) {
        // SAFETY: passed on to the caller.
        unsafe { self.0.dealloc(object, layout) };
        count(1);
    }
}

/// A file for counts that begin at 0.
pub(crate) fn make_counts(path: &Path) {
    fs::write(path, [0; 16]).expect("a file for the counts");
}

/// Allocations and frees that had come to their end.
pub(crate) fn published(path: &Path) -> [u64; 2] {
    let bytes = fs::read(path).expect("the counts");
    [0, 8].map(|at| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes")))
}

/// Operations that ended have their event; those under way may have one, at most one a thread, of which
/// the program has so many.
pub(crate) fn compare(replayed: &Replayed, [allocs, frees]: [u64; 2], threads: u64) {
    let (traced_allocs, traced_frees) = (replayed.counts[4], replayed.counts[5]);
    assert!(
        (allocs..=allocs + threads).contains(&traced_allocs),
        "{allocs} allocations ended, {traced_allocs} are in the trace"
    );
    assert!(
        (frees..=frees + threads).contains(&traced_frees),
        "{frees} frees ended, {traced_frees} are in the trace"
    );
}

/// From now on counts are in the file.
pub(crate) fn publish(path: &str) {
    let file = fs::File::options().read(true).write(true).open(path).expect("a file");
    // SAFETY: without MAP_FIXED the kernel picks a place where nothing else is mapped.
    let place = unsafe {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        libc::mmap(std::ptr::null_mut(), 4096, protection, libc::MAP_SHARED, file.as_raw_fd(), 0)
    };
    assert_ne!(place, libc::MAP_FAILED);
    let counts: *mut [AtomicU64; 2] = place.cast();
    // No thread but this one allocates yet.
    for (which, early) in EARLY.iter().enumerate() {
        // SAFETY: the mapping is large enough and aligned, and stays.
        unsafe { (*counts)[which].store(early.load(Ordering::Relaxed), Ordering::Relaxed) };
    }
    COUNTS.store(counts, Ordering::Release);
}
