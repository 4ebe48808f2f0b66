//! Operations that interrupted another of the same thread: from a signal handler, say.
//!
//! The interrupted one may hold any lock and have any list half changed. So these touch nothing it
//! could: the heap serves them from pages of their own, and keeps what they free for later.

use core::alloc::Layout;

use slabscope_heap::slot_size;

use crate::HEAP;
use crate::session::{Caller, Emitter};
use crate::traced::{Spans, object_id};

/// Allocates; the memory is zeroed, since it was never used.
pub(crate) fn alloc(
    emitter: Option<&mut Emitter<'_>>,
    layout: Layout,
    caller: Caller<'_>,
) -> *mut u8 {
    let (size, align) = (layout.size(), layout.align());
    let Some(emitter) = emitter else {
        return HEAP.alloc_reentrant(size, align, &mut ());
    };
    let object = HEAP.alloc_reentrant(size, align, &mut Spans(emitter));
    if !object.is_null() {
        let slot = slot_size(size, align);
        emitter.object_alloc(object_id(object.addr()), size, align, slot, || caller.place());
    }
    object
}

/// Frees, in the end.
///
/// # Safety
/// As `GlobalAlloc::dealloc`.
pub(crate) unsafe fn dealloc(emitter: Option<&mut Emitter<'_>>, object: *mut u8, layout: Layout) {
    let (size, align) = (layout.size(), layout.align());
    if let Some(emitter) = emitter {
        emitter.object_free(object_id(object.addr()), slot_size(size, align));
    }
    // SAFETY: passed on to the caller.
    unsafe { HEAP.dealloc_reentrant(object, size, align) };
}
