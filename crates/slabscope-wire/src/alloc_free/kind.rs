//! The nine events of the experiment.

use crate::event::id;

/// The events of the AllocFree experiment, in the order of their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EventKind {
    /// A span exists.
    Span,
    /// A span was allocated.
    SpanAlloc,
    /// A span is about to be freed.
    SpanFree,
    /// An object exists.
    Object,
    /// An object was allocated.
    ObjectAlloc,
    /// An object is about to be freed.
    ObjectFree,
    /// A stack exists.
    Stack,
    /// A stack was allocated.
    StackAlloc,
    /// A stack is about to be freed.
    StackFree,
}

/// All kinds, in order.
pub const KINDS: [EventKind; 9] = [
    EventKind::Span,
    EventKind::SpanAlloc,
    EventKind::SpanFree,
    EventKind::Object,
    EventKind::ObjectAlloc,
    EventKind::ObjectFree,
    EventKind::Stack,
    EventKind::StackAlloc,
    EventKind::StackFree,
];

impl EventKind {
    /// Whether its record has an argument word after the event word.
    #[inline]
    pub const fn has_argument(self) -> bool {
        !matches!(
            self,
            EventKind::Object
                | EventKind::ObjectAlloc
                | EventKind::ObjectFree
                | EventKind::SpanFree
        )
    }

    /// The kind with this number, from 0.
    #[inline]
    pub fn new(number: u64) -> Option<Self> {
        KINDS.get(usize::try_from(number).ok()?).copied()
    }

    /// Its number in the trace.
    #[inline]
    pub const fn wire_id(self) -> u8 {
        id::SPAN + self as u8
    }
}

const _: () = assert!(EventKind::StackFree.wire_id() == id::GOROUTINE_STACK_FREE);
