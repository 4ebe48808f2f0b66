//! The heap's spans without its objects: where objects lie can be told ahead of a replay.
//!
//! Which spans there are depends on no object, and which number a slot has on nothing but spans. So a
//! second heap that is shown the events of spans alone numbers slots as the first one does.

use std::num::NonZeroU8;

use slabscope_trace::alloc_free::AllocFree;
use slabscope_trace::{Place, Placer};

use super::{Heap, In, Listener, Out, Slot};

/// The spans of a heap.
#[derive(Debug)]
pub(crate) struct Geography(Heap<()>);

impl Geography {
    /// Of a heap as it is.
    pub(crate) fn of<T: Copy>(heap: &Heap<T>) -> Geography {
        let mut empty = Heap::new(heap.units, heap.shares_slots);
        empty.spans = heap.spans.emptied();
        Geography(empty)
    }
}

impl Placer for Geography {
    #[inline]
    fn place(&mut self, id: u64) -> Option<Place> {
        let Slot { number: slot, class } = self.0.slot_of(id)?;
        Some(Place { slot, class: NonZeroU8::new(class)? })
    }

    #[inline]
    fn other(&mut self, what: AllocFree) {
        if is_of_span(what) {
            self.0.apply(what, &mut Nobody);
        }
    }
}

/// Whether it is about a span.
pub(crate) fn is_of_span(what: AllocFree) -> bool {
    matches!(
        what,
        AllocFree::Span { .. } | AllocFree::SpanAlloc { .. } | AllocFree::SpanFree { .. }
    )
}

/// Hears of changes and keeps nothing.
struct Nobody;

impl Listener for Nobody {
    type Tag = ();

    fn object_in(&mut self, _: super::Place, _: In) {}
    fn object_out(&mut self, _: super::Place, (): (), _: Out) {}
}
