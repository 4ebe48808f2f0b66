//! Changing an object's size where it lies.

use core::alloc::Layout;

use crate::door::{self, Access, InFork};
use crate::session::{Caller, Emitter};
use crate::tls::{self, Thread};
use crate::{HEAP, traced};

/// Resizes an object if its slot or the pages after it allow that; `false` and nothing changed if not.
///
/// # Safety
/// As `GlobalAlloc::realloc`.
#[inline(never)]
pub(crate) unsafe fn in_place(object: *mut u8, layout: Layout, new_size: usize) -> bool {
    tls::with(|thread| {
        if !thread.enter(|_| true, || false) {
            // SAFETY: passed on to the caller.
            return unsafe { through_door(thread, thread.state(), object, layout, new_size) };
        }
        let mode = thread.look();
        if mode == 0 {
            let (size, align) = (layout.size(), layout.align());
            // SAFETY: passed on to the caller.
            let done = unsafe { HEAP.resize_in_place(object, size, align, new_size, &mut ()) };
            thread.leave();
            return done;
        }
        let caller = Caller::of_this(thread);
        let traced = |_: &mut _, emitter: &mut Emitter<'_>| {
            // SAFETY: the object is the caller's, by the trait's contract.
            unsafe { traced::resize_in_place(emitter, object, layout, new_size, caller) }
        };
        match door::traced_at_once(thread, mode, traced) {
            Some(done) => done,
            // SAFETY: passed on to the caller.
            None => unsafe { through_door(thread, tls::IDLE, object, layout, new_size) },
        }
    })
}

/// The same under something unusual: see [`door::pass`].
///
/// # Safety
/// As [`in_place`].
#[cold]
#[inline(never)]
unsafe fn through_door(
    thread: &Thread,
    before: u8,
    object: *mut u8,
    layout: Layout,
    new_size: usize,
) -> bool {
    let caller = Caller::of_this(thread);
    let (size, align) = (layout.size(), layout.align());
    door::pass(thread, before, InFork::GoesApart, |access| match access {
        // SAFETY: the object is the caller's, by the trait's contract.
        Access::Plain(_) => unsafe { HEAP.resize_in_place(object, size, align, new_size, &mut ()) },
        // SAFETY: as above.
        Access::Traced(_, emitter) => unsafe {
            traced::resize_in_place(emitter, object, layout, new_size, caller)
        },
        // Moving it is always possible; changing its span here is not.
        Access::Reentrant(_) => false,
    })
}
