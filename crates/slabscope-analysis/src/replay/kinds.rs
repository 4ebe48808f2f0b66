//! The nine kinds of events of the heap: their places in a list, and their names.

use slabscope_trace::alloc_free::AllocFree;
use slabscope_wire::event::{self, id};

use crate::report::EventCount;

/// How many kinds of events there are of the heap.
pub(crate) const KINDS: usize = (id::GOROUTINE_STACK_FREE - id::SPAN) as usize + 1;

/// The counts with the names of what they count.
pub(super) fn named(counts: [u64; KINDS]) -> Vec<EventCount> {
    let heap = EVENT_NAMES.into_iter().zip(counts);
    heap.map(|(event, count)| EventCount { event, count }).collect()
}

/// Which of the nine events it is.
#[inline]
pub(crate) fn kind(what: AllocFree) -> u8 {
    what.number() - id::SPAN
}

/// An object's allocation, and its free.
pub(crate) const ALLOC: u8 = id::HEAP_OBJECT_ALLOC - id::SPAN;
pub(crate) const FREE: u8 = id::HEAP_OBJECT_FREE - id::SPAN;

/// Whether it is about an object.
pub(crate) fn is_of_object(kind: u8) -> bool {
    kind == id::HEAP_OBJECT - id::SPAN || is_alloc_or_free(kind)
}

/// Whether it is an allocation or a free of an object.
#[inline]
pub(crate) fn is_alloc_or_free(kind: u8) -> bool {
    kind == ALLOC || kind == FREE
}

/// The event's name, as Go's tools call it.
pub(crate) fn event_name(kind: u8) -> &'static str {
    EVENT_NAMES.get(usize::from(kind)).copied().unwrap_or_default()
}

/// The names of the nine events, in the order of their numbers.
const EVENT_NAMES: [&str; KINDS] = {
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
