//! Operations with their events: each stands beside the event it is recorded as.
//!
//! An alloc event follows its operation, a free event comes before it. What the heap does to spans
//! meanwhile it reports itself, through [`Spans`].

use core::alloc::Layout;
use core::ptr::null_mut;

use slabscope_heap::{
    Front, Observer, SpanInfo, SpanKind, ThreadCache, slot_size, slot_size_plain,
};
use slabscope_wire::alloc_free::{KINDCLASS_NOT_OBJECTS, OBJECT_ALIGN, kindclass_noscan};
use slabscope_wire::size_class::SizeClass;

use crate::HEAP;
use crate::session::{AtOnce, Caller, Emitter};

/// Turns what the heap reports of its spans into events.
pub(crate) struct Spans<'a, 'e>(pub(crate) &'a mut Emitter<'e>);

impl Observer for Spans<'_, '_> {
    fn span_alloc(&mut self, span: SpanInfo) {
        let (page, pages) = (span.page as u64, span.pages as u64);
        self.0.span_alloc(page, pages, kindclass(span.kind), pages_with_objects(span.kind, pages));
    }

    fn span_free(&mut self, span: SpanInfo) {
        self.0.span_free(span.page as u64);
    }
}

/// Kind and class of a span as an event names them.
pub(crate) fn kindclass(kind: SpanKind) -> u64 {
    match kind {
        SpanKind::Objects(class) => kindclass_noscan(class),
        SpanKind::Stack => KINDCLASS_NOT_OBJECTS,
    }
}

/// On how many pages of a span an object may begin.
fn pages_with_objects(kind: SpanKind, pages: u64) -> u64 {
    match kind {
        SpanKind::Objects(SizeClass::LARGE) => 1,
        SpanKind::Objects(_) => pages,
        SpanKind::Stack => 0,
    }
}

/// The id of the object at `address`.
pub(crate) fn object_id(address: usize) -> u64 {
    (address as u64).wrapping_sub(HEAP.base() as u64) / OBJECT_ALIGN
}

/// Allocates, zeroed if asked for; `cache` is the calling thread's, inside an operation.
pub(crate) fn alloc(
    cache: &mut ThreadCache,
    emitter: &mut Emitter<'_>,
    layout: Layout,
    zeroed: bool,
    caller: Caller<'_>,
) -> *mut u8 {
    let (size, align) = (layout.size(), layout.align());
    let mut spans = Spans(emitter);
    let object = if zeroed {
        HEAP.alloc_zeroed(cache, size, align, &mut spans)
    } else {
        HEAP.alloc(cache, size, align, &mut spans)
    };
    if !object.is_null() {
        let slot = slot_size(size, align);
        emitter.object_alloc(object_id(object.addr()), size, align, slot, || caller.place());
    }
    object
}

/// As [`alloc`], of an object that `front` has at hand and whose event is recorded at once; null, and
/// nothing was done, for any other.
#[inline(always)]
pub(crate) fn alloc_at_once(front: &Front, at_once: AtOnce<'_>, layout: Layout) -> *mut u8 {
    let size = layout.size();
    let object = front.alloc(size);
    if !object.is_null() {
        let (id, slot) = (object_id(object.addr()), slot_size_plain(size));
        if !at_once.object_alloc(id, size, layout.align(), slot) {
            // SAFETY: just taken, so there is room for it.
            unsafe { front.undo_alloc(object, size) };
            return null_mut();
        }
    }
    object
}

/// As [`dealloc`] by its event alone, if that is recorded at once.
#[inline(always)]
pub(crate) fn free_event_at_once(at_once: AtOnce<'_>, object: *mut u8, size: usize) -> bool {
    at_once.object_free(object_id(object.addr()), slot_size_plain(size))
}

/// Frees.
///
/// # Safety
/// As `GlobalAlloc::dealloc`; `cache` is the calling thread's, inside an operation.
pub(crate) unsafe fn dealloc(
    cache: &mut ThreadCache,
    emitter: &mut Emitter<'_>,
    object: *mut u8,
    layout: Layout,
) {
    emitter.object_free(object_id(object.addr()), slot_size(layout.size(), layout.align()));
    // SAFETY: passed on to the caller.
    unsafe { dealloc_told(cache, emitter, object, layout) };
}

/// Frees what has its event already.
///
/// # Safety
/// As [`dealloc`].
pub(crate) unsafe fn dealloc_told(
    cache: &mut ThreadCache,
    emitter: &mut Emitter<'_>,
    object: *mut u8,
    layout: Layout,
) {
    let (size, align) = (layout.size(), layout.align());
    // SAFETY: passed on to the caller.
    unsafe { HEAP.dealloc(cache, object, size, align, &mut Spans(emitter)) };
}

/// Resizes where the object lies, if that is possible.
///
/// The format has no event for it, so it is a free and an alloc of the same object. If the span
/// changes too, the free comes before the span's.
///
/// # Safety
/// As `GlobalAlloc::realloc`, inside an operation.
pub(crate) unsafe fn resize_in_place(
    emitter: &mut Emitter<'_>,
    object: *mut u8,
    layout: Layout,
    new_size: usize,
    caller: Caller<'_>,
) -> bool {
    let (size, align) = (layout.size(), layout.align());
    let mut resizing = Resizing {
        emitter,
        id: object_id(object.addr()),
        slot: slot_size(size, align),
        freed: false,
    };
    // SAFETY: passed on to the caller.
    let done = unsafe { HEAP.resize_in_place(object, size, align, new_size, &mut resizing) };
    if done {
        resizing.free_object();
        let (id, slot) = (resizing.id, slot_size(new_size, align));
        resizing.emitter.object_alloc(id, new_size, align, slot, || caller.place());
    }
    done
}

/// Emits the free of the object being resized before that of its span, or else at the end.
struct Resizing<'a, 'e> {
    emitter: &'a mut Emitter<'e>,
    id: u64,
    slot: usize,
    freed: bool,
}

impl Resizing<'_, '_> {
    fn free_object(&mut self) {
        if !self.freed {
            self.freed = true;
            self.emitter.object_free(self.id, self.slot);
        }
    }
}

impl Observer for Resizing<'_, '_> {
    fn span_alloc(&mut self, span: SpanInfo) {
        Spans(self.emitter).span_alloc(span);
    }

    fn span_free(&mut self, span: SpanInfo) {
        self.free_object();
        Spans(self.emitter).span_free(span);
    }
}
