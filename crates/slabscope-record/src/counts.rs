//! The nine events, and counting them.

use core::sync::atomic::{AtomicU64, Ordering};

use slabscope_wire::event::id;

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

/// One counter for each kind.
///
/// Relaxed throughout: they are read for good only once those who count have stopped, which the
/// safepoint orders; before that they are a live figure.
#[derive(Debug, Default)]
pub struct Counts([AtomicU64; 9]);

impl Counts {
    /// All zero.
    pub const fn new() -> Self {
        Counts([const { AtomicU64::new(0) }; 9])
    }

    /// Adds one; for a counter that only the calling thread writes, and no signal interrupts.
    #[inline]
    pub fn add_own(&self, kind: EventKind) {
        if let Some(count) = self.0.get(kind as usize) {
            count.store(count.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        }
    }

    /// Adds `n`, whoever else does the same.
    pub fn add_shared(&self, kind: EventKind, n: u64) {
        if let Some(count) = self.0.get(kind as usize) {
            count.fetch_add(n, Ordering::Relaxed);
        }
    }

    /// The count of one kind.
    pub fn get(&self, kind: EventKind) -> u64 {
        self.0.get(kind as usize).map_or(0, |count| count.load(Ordering::Relaxed))
    }
}
