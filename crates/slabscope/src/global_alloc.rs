//! The allocator as Rust sees it.

use core::alloc::{GlobalAlloc, Layout};

use slabscope_heap::{Heap, PAGE_SIZE};
use slabscope_record::Emitter;

use crate::caller::Caller;
use crate::door::{self, Access, InFork};
use crate::{HEAP, reentrant, safepoint, tls, traced};

/// The allocator. Make it the program's with one line:
///
/// ```
/// #[global_allocator]
/// static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();
/// # fn main() {}
/// ```
///
/// All values of the type share one heap.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slabscope(());

impl Slabscope {
    /// The allocator.
    pub const fn new() -> Self {
        Slabscope(())
    }
}

// SAFETY: the heap gives out disjoint blocks of at least the layout's size and alignment and keeps
// them until they are freed; nothing here unwinds, since nothing panics.
unsafe impl GlobalAlloc for Slabscope {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        tls::with(|thread| match thread.enter() {
            Ok(()) => {
                // SAFETY: the thread is BUSY and its own (invariant 2).
                let cache = unsafe { thread.cache() };
                let object = Heap::alloc_at_once(cache, layout.size(), layout.align());
                if object.is_null() {
                    return alloc_rest(layout, thread);
                }
                thread.leave();
                object
            }
            Err(before) => alloc_slow(layout, thread, before, false),
        })
    }

    #[inline]
    unsafe fn dealloc(&self, object: *mut u8, layout: Layout) {
        tls::with(|thread| match thread.enter() {
            Ok(()) => {
                // SAFETY: the thread is BUSY and its own (invariant 2).
                let cache = unsafe { thread.cache() };
                let (size, align) = (layout.size(), layout.align());
                // SAFETY: the object and its layout are the caller's, by the trait's contract.
                if unsafe { Heap::dealloc_at_once(cache, object, size, align) } {
                    thread.leave();
                } else {
                    // SAFETY: as above.
                    unsafe { dealloc_rest(object, layout, thread) };
                }
            }
            // SAFETY: passed on to the caller.
            Err(before) => unsafe { dealloc_slow(object, layout, thread, before) },
        })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        tls::with(|thread| match thread.enter() {
            Ok(()) => {
                // SAFETY: the thread is BUSY and its own (invariant 2).
                let cache = unsafe { thread.cache() };
                let object = HEAP.alloc_zeroed(cache, layout.size(), layout.align(), &mut ());
                thread.leave();
                object
            }
            Err(before) => alloc_slow(layout, thread, before, true),
        })
    }

    #[inline]
    unsafe fn realloc(&self, object: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // A heap that would have nothing to do need not be asked: as long as no trace wants to know,
        // this is no operation at all.
        let slot_stays = Heap::same_slot(layout.size(), new_size, layout.align());
        if slot_stays && safepoint::mode() == 0 {
            return object;
        }
        let may_stay = slot_stays || layout.size() > PAGE_SIZE;
        // SAFETY: passed on to the caller.
        if may_stay && unsafe { resize_in_place(object, layout, new_size) } {
            return object;
        }
        // SAFETY: the trait's contract makes the new size valid for the alignment. Each of the three
        // steps is an operation of its own, so copying a large object delays nobody.
        unsafe {
            let new_layout = Layout::from_size_align_unchecked(new_size, layout.align());
            let new = self.alloc(new_layout);
            if !new.is_null() {
                core::ptr::copy_nonoverlapping(object, new, layout.size().min(new_size));
                self.dealloc(object, layout);
            }
            new
        }
    }
}

/// What [`Slabscope::alloc`] does when the cache has nothing at hand; the thread is BUSY.
#[cold]
#[inline(never)]
fn alloc_rest(layout: Layout, thread: &tls::Thread) -> *mut u8 {
    // SAFETY: the thread is BUSY and its own (invariant 2).
    let cache = unsafe { thread.cache() };
    let object = HEAP.alloc(cache, layout.size(), layout.align(), &mut ());
    thread.leave();
    object
}

/// What [`Slabscope::dealloc`] does when the cache has no room at hand; the thread is BUSY.
///
/// # Safety
/// As `GlobalAlloc::dealloc`.
#[cold]
#[inline(never)]
unsafe fn dealloc_rest(object: *mut u8, layout: Layout, thread: &tls::Thread) {
    // SAFETY: the thread is BUSY and its own (invariant 2).
    let cache = unsafe { thread.cache() };
    // SAFETY: passed on to the caller.
    unsafe { HEAP.dealloc(cache, object, layout.size(), layout.align(), &mut ()) };
    thread.leave();
}

#[inline]
unsafe fn resize_in_place(object: *mut u8, layout: Layout, new_size: usize) -> bool {
    tls::with(|thread| match thread.enter() {
        Ok(()) => {
            let (size, align) = (layout.size(), layout.align());
            // SAFETY: the object and its layout are the caller's, by the trait's contract.
            let done = unsafe { HEAP.resize_in_place(object, size, align, new_size, &mut ()) };
            thread.leave();
            done
        }
        // SAFETY: passed on to the caller.
        Err(before) => unsafe { resize_in_place_slow(thread, before, object, layout, new_size) },
    })
}

/// Not cold: while a trace is made, every operation comes by here.
#[inline(never)]
fn alloc_slow(layout: Layout, thread: &tls::Thread, before: u8, zeroed: bool) -> *mut u8 {
    let caller = Caller::of_this(thread);
    let traced = |cache: &mut _, emitter: &mut Emitter<'_>| {
        traced::alloc(cache, emitter, layout, zeroed, caller)
    };
    match door::traced_at_once(thread, before, traced) {
        Some(object) => object,
        None => alloc_rare(layout, thread, before, zeroed),
    }
}

#[cold]
#[inline(never)]
fn alloc_rare(layout: Layout, thread: &tls::Thread, before: u8, zeroed: bool) -> *mut u8 {
    let caller = Caller::of_this(thread);
    let (size, align) = (layout.size(), layout.align());
    door::pass(thread, before, InFork::GoesApart, |access| match access {
        Access::Plain(cache) if zeroed => HEAP.alloc_zeroed(cache, size, align, &mut ()),
        Access::Plain(cache) => HEAP.alloc(cache, size, align, &mut ()),
        Access::Traced(cache, emitter) => traced::alloc(cache, emitter, layout, zeroed, caller),
        Access::Reentrant(emitter) => reentrant::alloc(emitter, layout, caller),
    })
}

/// As [`alloc_slow`].
///
/// # Safety
/// As `GlobalAlloc::dealloc`.
#[inline(never)]
unsafe fn dealloc_slow(object: *mut u8, layout: Layout, thread: &tls::Thread, before: u8) {
    let traced = |cache: &mut _, emitter: &mut Emitter<'_>| {
        // SAFETY: the object is the caller's; the cache is ours, by `traced_at_once`.
        unsafe { traced::dealloc(cache, emitter, object, layout) }
    };
    if door::traced_at_once(thread, before, traced).is_none() {
        // SAFETY: passed on to the caller.
        unsafe { dealloc_rare(object, layout, thread, before) }
    }
}

#[cold]
#[inline(never)]
unsafe fn dealloc_rare(object: *mut u8, layout: Layout, thread: &tls::Thread, before: u8) {
    let (size, align) = (layout.size(), layout.align());
    door::pass(thread, before, InFork::GoesApart, |access| match access {
        // SAFETY: the object is the caller's; the cache is ours, by `Access`.
        Access::Plain(cache) => unsafe { HEAP.dealloc(cache, object, size, align, &mut ()) },
        // SAFETY: as above.
        Access::Traced(cache, emitter) => unsafe {
            traced::dealloc(cache, emitter, object, layout)
        },
        // SAFETY: as above.
        Access::Reentrant(emitter) => unsafe { reentrant::dealloc(emitter, object, layout) },
    });
}

/// As [`alloc_slow`].
///
/// # Safety
/// As `GlobalAlloc::realloc`.
#[inline(never)]
unsafe fn resize_in_place_slow(
    thread: &tls::Thread,
    before: u8,
    object: *mut u8,
    layout: Layout,
    new_size: usize,
) -> bool {
    let caller = Caller::of_this(thread);
    let traced = |_: &mut _, emitter: &mut Emitter<'_>| {
        // SAFETY: the object is the caller's, by the trait's contract.
        unsafe { traced::resize_in_place(emitter, object, layout, new_size, caller) }
    };
    if let Some(done) = door::traced_at_once(thread, before, traced) {
        return done;
    }
    let (size, align) = (layout.size(), layout.align());
    door::pass(thread, before, InFork::GoesApart, |access| match access {
        // SAFETY: as above.
        Access::Plain(_) => unsafe { HEAP.resize_in_place(object, size, align, new_size, &mut ()) },
        // SAFETY: as above.
        Access::Traced(_, emitter) => unsafe {
            traced::resize_in_place(emitter, object, layout, new_size, caller)
        },
        // Moving it is always possible; changing its span here is not.
        Access::Reentrant(_) => false,
    })
}
