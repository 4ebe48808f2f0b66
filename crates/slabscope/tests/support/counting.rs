//! A global allocator that counts for itself what is live, to compare a trace with.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicI64, Ordering};

use slabscope::Slabscope;

/// Slabscope, counted from outside.
pub(crate) struct Counting(pub(crate) Slabscope);

/// Allocations less frees, of all threads.
pub(crate) static LIVE: AtomicI64 = AtomicI64::new(0);

// SAFETY: everything is passed on; counting changes nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(1, Ordering::Relaxed);
        // SAFETY: passed on to the caller.
        unsafe { self.0.alloc(layout) }
    }

    unsafe fn dealloc(&self, object: *mut u8, layout: Layout) {
        LIVE.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: passed on to the caller.
        unsafe { self.0.dealloc(object, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(1, Ordering::Relaxed);
        // SAFETY: passed on to the caller.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, object: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: passed on to the caller.
        unsafe { self.0.realloc(object, layout, new_size) }
    }
}
