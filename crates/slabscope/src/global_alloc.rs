//! The allocator as Rust sees it.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr::null_mut;

use slabscope_heap::{ALIGN_PLAIN, Front, Heap, PAGE_SIZE, ThreadCache};

use crate::door::{self, Access, InFork};
use crate::session::{Caller, Emitter};
use crate::tls::{self, Thread};
use crate::{HEAP, reentrant, resize, safepoint, traced};

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
        let (size, align) = (layout.size(), layout.align());
        if align > ALIGN_PLAIN {
            return alloc_aligned(layout);
        }
        tls::with(|thread| {
            thread.enter(
                |front| {
                    if Heap::has_own_span(size) {
                        return alloc_large(front, layout);
                    }
                    let object = front.alloc(size);
                    if object.is_null() {
                        return alloc_long(layout, false);
                    }
                    thread.leave();
                    object
                },
                || alloc_rare(layout, false),
            )
        })
    }

    #[inline]
    unsafe fn dealloc(&self, object: *mut u8, layout: Layout) {
        let (size, align) = (layout.size(), layout.align());
        if align > ALIGN_PLAIN {
            // SAFETY: passed on to the caller.
            return unsafe { dealloc_aligned(object, layout) };
        }
        tls::with(|thread| {
            thread.enter(
                |front| {
                    if Heap::has_own_span(size) {
                        // SAFETY: passed on to the caller.
                        return unsafe { dealloc_large(front, object, layout) };
                    }
                    // SAFETY: the object and its layout are the caller's, by the trait's contract.
                    if unsafe { front.dealloc(object, size) } {
                        thread.leave();
                    } else {
                        // SAFETY: as above.
                        unsafe { dealloc_long(object, layout) };
                    }
                }, // SAFETY: passed on to the caller.
                || unsafe { dealloc_rare(object, layout) },
            )
        })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        tls::with(|thread| {
            thread.enter(
                |front| {
                    let object = if align > ALIGN_PLAIN { null_mut() } else { front.alloc(size) };
                    if object.is_null() {
                        return alloc_long(layout, true);
                    }
                    thread.leave();
                    // SAFETY: the object is of that size, and nobody else's.
                    unsafe { object.write_bytes(0, size) };
                    object
                },
                || alloc_rare(layout, true),
            )
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
        if may_stay && unsafe { resize::in_place(object, layout, new_size) } {
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

/// As [`Slabscope::alloc`] of a large object: its thread has entered an operation. Apart from that, so
/// that small ones need no stack.
#[inline(never)]
fn alloc_large(front: &Front, layout: Layout) -> *mut u8 {
    let object = HEAP.alloc_kept(front, layout.size());
    if object.is_null() {
        return alloc_long(layout, false);
    }
    tls::with(Thread::leave);
    object
}

/// As [`alloc_large`].
///
/// # Safety
/// As `GlobalAlloc::dealloc`.
#[inline(never)]
unsafe fn dealloc_large(front: &Front, object: *mut u8, layout: Layout) {
    // SAFETY: passed on to the caller.
    if !unsafe { HEAP.dealloc_kept(front, object, layout.size()) } {
        // SAFETY: as above.
        return unsafe { dealloc_long(object, layout) };
    }
    tls::with(Thread::leave);
}

/// As [`Slabscope::alloc`], for alignments that not every slot has.
#[cold]
#[inline(never)]
fn alloc_aligned(layout: Layout) -> *mut u8 {
    tls::with(|thread| {
        thread.enter(
            |front| {
                let object = front.alloc_aligned(layout.size(), layout.align());
                if object.is_null() {
                    return alloc_long(layout, false);
                }
                thread.leave();
                object
            },
            || alloc_rare(layout, false),
        )
    })
}

/// As [`alloc_aligned`].
///
/// # Safety
/// As `GlobalAlloc::dealloc`.
#[cold]
#[inline(never)]
unsafe fn dealloc_aligned(object: *mut u8, layout: Layout) {
    tls::with(|thread| {
        thread.enter(
            |front| {
                // SAFETY: passed on to the caller.
                if unsafe { front.dealloc_aligned(object, layout.size(), layout.align()) } {
                    thread.leave();
                } else {
                    // SAFETY: as above.
                    unsafe { dealloc_long(object, layout) };
                }
            }, // SAFETY: as above.
            || unsafe { dealloc_rare(object, layout) },
        )
    })
}

/// What an allocation does when the front has nothing at hand: the cache has run out, or the front is
/// closed. The thread was IDLE and has entered an operation. While a trace is made, every one comes by
/// here.
#[inline(never)]
fn alloc_long(layout: Layout, zeroed: bool) -> *mut u8 {
    tls::with(|thread| {
        let mode = thread.look();
        if !zeroed
            && layout.align() <= ALIGN_PLAIN
            && let Some(at_once) = door::at_once(thread, mode)
            && at_once.is_plain(&thread.declared)
        {
            // SAFETY: the thread is BUSY and its own (invariant 2), and the world goes on.
            let cache = unsafe { thread.cache() };
            let object = traced::alloc_at_once(cache.front(), at_once, layout);
            if !object.is_null() {
                thread.leave();
                return object;
            }
        }
        let caller = Caller::of_this(thread);
        if mode == 0 {
            // SAFETY: the thread is BUSY and its own (invariant 2), and the world goes on.
            let cache = unsafe { thread.cache() };
            let object = alloc_plain(cache, layout, zeroed);
            thread.leave();
            return object;
        }
        let traced = |cache: &mut _, emitter: &mut Emitter<'_>| {
            traced::alloc(cache, emitter, layout, zeroed, caller)
        };
        match door::traced_at_once(thread, mode, traced) {
            Some(object) => object,
            None => alloc_through_door(thread, tls::IDLE, layout, zeroed),
        }
    })
}

/// Allocates, and tells nobody.
#[inline(always)]
fn alloc_plain(cache: &mut ThreadCache, layout: Layout, zeroed: bool) -> *mut u8 {
    let (size, align) = (layout.size(), layout.align());
    match zeroed {
        true => HEAP.alloc_zeroed(cache, size, align, &mut ()),
        false => HEAP.alloc(cache, size, align, &mut ()),
    }
}

/// What an allocation does when its thread is not IDLE.
#[cold]
#[inline(never)]
fn alloc_rare(layout: Layout, zeroed: bool) -> *mut u8 {
    tls::with(|thread| alloc_through_door(thread, thread.state(), layout, zeroed))
}

/// An allocation under something unusual: see [`door::pass`].
#[cold]
#[inline(never)]
fn alloc_through_door(thread: &Thread, before: u8, layout: Layout, zeroed: bool) -> *mut u8 {
    let caller = Caller::of_this(thread);
    door::pass(thread, before, InFork::GoesApart, |access| match access {
        Access::Plain(cache) => alloc_plain(cache, layout, zeroed),
        Access::Traced(cache, emitter) => traced::alloc(cache, emitter, layout, zeroed, caller),
        Access::Reentrant(emitter) => reentrant::alloc(emitter, layout, caller),
    })
}

/// As [`alloc_long`].
///
/// # Safety
/// As `GlobalAlloc::dealloc`.
#[inline(never)]
unsafe fn dealloc_long(object: *mut u8, layout: Layout) {
    tls::with(|thread| {
        let mode = thread.look();
        if layout.align() <= ALIGN_PLAIN
            && !Heap::has_own_span(layout.size())
            && let Some(at_once) = door::at_once(thread, mode)
            && traced::free_event_at_once(at_once, object, layout.size())
        {
            // SAFETY: the thread is BUSY and its own (invariant 2), and the world goes on.
            let cache = unsafe { thread.cache() };
            // SAFETY: passed on to the caller.
            if unsafe { cache.front().dealloc(object, layout.size()) } {
                return thread.leave();
            }
            // SAFETY: passed on to the caller; its event was just recorded.
            return unsafe { dealloc_told(thread, object, layout) };
        }
        if mode == 0 {
            // SAFETY: the thread is BUSY and its own (invariant 2), and the world goes on.
            let cache = unsafe { thread.cache() };
            // SAFETY: passed on to the caller.
            unsafe { HEAP.dealloc(cache, object, layout.size(), layout.align(), &mut ()) };
            return thread.leave();
        }
        let traced = |cache: &mut _, emitter: &mut Emitter<'_>| {
            // SAFETY: the object is the caller's; the cache is ours, by `traced_at_once`.
            unsafe { traced::dealloc(cache, emitter, object, layout) }
        };
        if door::traced_at_once(thread, mode, traced).is_none() {
            // SAFETY: passed on to the caller.
            unsafe { dealloc_through_door(thread, tls::IDLE, object, layout) }
        }
    });
}

/// The rest of a [`dealloc_long`] whose event is recorded.
///
/// # Safety
/// As `GlobalAlloc::dealloc`; the thread has entered an operation, and the trace that is made knows it.
#[cold]
#[inline(never)]
unsafe fn dealloc_told(thread: &Thread, object: *mut u8, layout: Layout) {
    let told = |cache: &mut _, emitter: &mut Emitter<'_>| {
        // SAFETY: the object is the caller's; the cache is ours, by `traced_at_once`.
        unsafe { traced::dealloc_told(cache, emitter, object, layout) }
    };
    if door::traced_at_once(thread, safepoint::TRACING, told).is_none() {
        // A trace outlasts the operations under way, but for that of a thread whose signal handler forks: in
        // the child there is none, or another, for which the object is one that it began with.
        // SAFETY: as above.
        unsafe { dealloc_through_door(thread, tls::IDLE, object, layout) }
    }
}

/// As [`alloc_rare`].
///
/// # Safety
/// As `GlobalAlloc::dealloc`.
#[cold]
#[inline(never)]
unsafe fn dealloc_rare(object: *mut u8, layout: Layout) {
    // SAFETY: passed on to the caller.
    tls::with(|thread| unsafe {
        dealloc_through_door(thread, thread.state(), object, layout);
    });
}

/// As [`alloc_through_door`].
///
/// # Safety
/// As `GlobalAlloc::dealloc`.
#[cold]
#[inline(never)]
unsafe fn dealloc_through_door(thread: &Thread, before: u8, object: *mut u8, layout: Layout) {
    door::pass(thread, before, InFork::GoesApart, |access| match access {
        // SAFETY: the object is the caller's; the cache is ours, by `Access`.
        Access::Plain(cache) => unsafe {
            HEAP.dealloc(cache, object, layout.size(), layout.align(), &mut ())
        },
        // SAFETY: as above.
        Access::Traced(cache, emitter) => unsafe {
            traced::dealloc(cache, emitter, object, layout)
        },
        // SAFETY: as above.
        Access::Reentrant(emitter) => unsafe { reentrant::dealloc(emitter, object, layout) },
    });
}
