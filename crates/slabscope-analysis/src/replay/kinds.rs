//! The nine kinds of events of the heap: their places in a list, and their names.

use slabscope_trace::alloc_free::AllocFree;
use slabscope_wire::event::{self, id};

use crate::report::EventCount;

/// How many kinds of events there are of the heap.
pub(super) const KINDS: usize = (id::GOROUTINE_STACK_FREE - id::SPAN) as usize + 1;

/// The counts with the names of what they count.
pub(super) fn named(counts: [u64; KINDS]) -> Vec<EventCount> {
    let heap = EVENT_NAMES.into_iter().zip(counts);
    heap.map(|(event, count)| EventCount { event, count }).collect()
}

/// Which of the nine events it is.
pub(super) fn kind(what: AllocFree) -> usize {
    usize::from(
        match what {
            AllocFree::Span { .. } => id::SPAN,
            AllocFree::SpanAlloc { .. } => id::SPAN_ALLOC,
            AllocFree::SpanFree { .. } => id::SPAN_FREE,
            AllocFree::HeapObject { .. } => id::HEAP_OBJECT,
            AllocFree::HeapObjectAlloc { .. } => id::HEAP_OBJECT_ALLOC,
            AllocFree::HeapObjectFree { .. } => id::HEAP_OBJECT_FREE,
            AllocFree::Stack { .. } => id::GOROUTINE_STACK,
            AllocFree::StackAlloc { .. } => id::GOROUTINE_STACK_ALLOC,
            AllocFree::StackFree { .. } => id::GOROUTINE_STACK_FREE,
        } - id::SPAN,
    )
}

/// The names of the nine events, in the order of their numbers.
pub(super) const EVENT_NAMES: [&str; KINDS] = {
    let mut names = [""; KINDS];
    let mut kind = 0;
    while kind < KINDS {
        if let Some(spec) = event::spec(id::SPAN + kind as u8) {
            names[kind] = spec.name;
        }
        kind += 1;
    }
    names
};
