//! The AllocFree experiment: its events with names for their arguments, and its side data.

mod data;
mod data_reader;
mod stacks;

pub use data::{Closing, GenerationData, Info, Problem, ProblemKind, Site, ThreadEntry, TypeEntry};
pub use stacks::{ModuleEntry, StackFrame};

use slabscope_wire::event::id;

use crate::experiment::ExperimentalEvent;

/// An event of the AllocFree experiment.
///
/// Ids are addresses less the generation's minimal heap address, over a unit that
/// [`Info`] names: pages for spans, minimal alignments for objects and stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocFree {
    /// A span exists as tracing begins.
    Span {
        /// Which.
        id: u64,
        /// Its length in pages.
        pages: u64,
        /// What it holds; see [`slabscope_wire::alloc_free::class_of_kindclass`].
        kindclass: u64,
    },
    /// A span was allocated.
    SpanAlloc {
        /// Which.
        id: u64,
        /// Its length in pages.
        pages: u64,
        /// What it holds; see [`slabscope_wire::alloc_free::class_of_kindclass`].
        kindclass: u64,
    },
    /// A span is about to be freed.
    SpanFree {
        /// Which.
        id: u64,
    },
    /// An object exists as tracing begins.
    HeapObject {
        /// Which.
        id: u64,
        /// Its type, or in our traces its site; 0 for none.
        ty: u64,
    },
    /// An object was allocated.
    HeapObjectAlloc {
        /// Which.
        id: u64,
        /// Its type, or in our traces its site; 0 for none.
        ty: u64,
    },
    /// An object is about to be freed.
    HeapObjectFree {
        /// Which.
        id: u64,
    },
    /// A stack exists as tracing begins.
    Stack {
        /// Which.
        id: u64,
        /// The bit length of its size in bytes.
        order: u64,
    },
    /// A stack was allocated.
    StackAlloc {
        /// Which.
        id: u64,
        /// The bit length of its size in bytes.
        order: u64,
    },
    /// A stack is about to be freed.
    StackFree {
        /// Which.
        id: u64,
    },
}

impl AllocFree {
    /// The event with names for its arguments; `None` for another experiment's.
    #[inline]
    pub fn from_event(event: &ExperimentalEvent) -> Option<AllocFree> {
        let &[first, second, third, _] = event.raw_args();
        AllocFree::new(event.id, [first, second, third])
    }

    /// The event of this number with these arguments; `None` for another experiment's.
    #[inline]
    pub(crate) fn new(number: u8, [id, second, third]: [u64; 3]) -> Option<AllocFree> {
        Some(match number {
            id::SPAN => AllocFree::Span { id, pages: second, kindclass: third },
            id::SPAN_ALLOC => AllocFree::SpanAlloc { id, pages: second, kindclass: third },
            id::SPAN_FREE => AllocFree::SpanFree { id },
            id::HEAP_OBJECT => AllocFree::HeapObject { id, ty: second },
            id::HEAP_OBJECT_ALLOC => AllocFree::HeapObjectAlloc { id, ty: second },
            id::HEAP_OBJECT_FREE => AllocFree::HeapObjectFree { id },
            id::GOROUTINE_STACK => AllocFree::Stack { id, order: second },
            id::GOROUTINE_STACK_ALLOC => AllocFree::StackAlloc { id, order: second },
            id::GOROUTINE_STACK_FREE => AllocFree::StackFree { id },
            _ => return None,
        })
    }

    /// The number of the event in the event table.
    #[inline]
    pub fn number(self) -> u8 {
        match self {
            AllocFree::Span { .. } => id::SPAN,
            AllocFree::SpanAlloc { .. } => id::SPAN_ALLOC,
            AllocFree::SpanFree { .. } => id::SPAN_FREE,
            AllocFree::HeapObject { .. } => id::HEAP_OBJECT,
            AllocFree::HeapObjectAlloc { .. } => id::HEAP_OBJECT_ALLOC,
            AllocFree::HeapObjectFree { .. } => id::HEAP_OBJECT_FREE,
            AllocFree::Stack { .. } => id::GOROUTINE_STACK,
            AllocFree::StackAlloc { .. } => id::GOROUTINE_STACK_ALLOC,
            AllocFree::StackFree { .. } => id::GOROUTINE_STACK_FREE,
        }
    }

    /// Which span, object or stack it is about.
    #[inline]
    pub fn id(self) -> u64 {
        match self {
            AllocFree::Span { id, .. }
            | AllocFree::SpanAlloc { id, .. }
            | AllocFree::SpanFree { id }
            | AllocFree::HeapObject { id, .. }
            | AllocFree::HeapObjectAlloc { id, .. }
            | AllocFree::HeapObjectFree { id }
            | AllocFree::Stack { id, .. }
            | AllocFree::StackAlloc { id, .. }
            | AllocFree::StackFree { id } => id,
        }
    }
}
