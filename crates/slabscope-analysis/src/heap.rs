//! The heap of the traced program, replayed event by event.
//!
//! Objects are found by slot: a free names the start of the slot, an alloc in Go's traces may name
//! an address behind it. The model takes every event, also those that cannot have happened: it
//! reports a fault, and then goes on from what the newest event says.

mod class;
mod geography;
mod kept;
mod page_map;
mod pool;
mod slots;
mod span;
mod span_table;
mod units;

use std::collections::HashMap;

use foldhash::fast::RandomState;
use slabscope_trace::alloc_free::AllocFree;
use slabscope_wire::alloc_free::stack_size;
use slabscope_wire::size_class::{self, SizeClass};

use crate::fault::FaultKind;
pub(crate) use class::Class;
pub(crate) use geography::{Geography, is_of_span};
pub(crate) use kept::KeptTag;
pub(crate) use span::{Span, SpanKind};
pub(crate) use span_table::{Slot, SpanView};
pub(crate) use units::Units;

use span_table::SpanTable;

/// How something comes to be in the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum In {
    /// It existed as the trace began.
    Existed,
    /// It was allocated.
    Allocated,
}

/// How something leaves the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Out {
    /// It was freed.
    Freed,
    /// Something else is where it was, or its span went: its free is not in the trace.
    Vanished,
}

/// Where an object lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The size class of its span.
    pub(crate) class: Class,
    /// Bytes of its slot; 0 when it lies in none.
    pub(crate) bytes: u64,
}

/// What hears of each change to the heap. Not everybody listens to all of it.
pub(crate) trait Listener {
    /// What the listener wants to know of an object again when it goes. The heap keeps one for each
    /// slot of the traced heap, so it should be small, and its `Option` no larger.
    type Tag: Copy;

    /// There is one object more.
    fn object_in(&mut self, place: Place, how: In) -> Self::Tag;
    /// There is one object less.
    fn object_out(&mut self, place: Place, tag: Self::Tag, how: Out);
    /// An object was put into a slot that holds others, as Go's tiny allocator does.
    fn object_shares(&mut self) {}
    /// There is one span more, of so many pages.
    fn span_in(&mut self, _pages: u64, _how: In) {}
    /// There is one span less, of so many pages.
    fn span_out(&mut self, _pages: u64, _how: Out) {}
    /// There is one stack more, of so many bytes.
    fn stack_in(&mut self, _bytes: u64, _how: In) {}
    /// There is one stack less, of so many bytes.
    fn stack_out(&mut self, _bytes: u64, _how: Out) {}
    /// The event contradicts those before it; it names `id`.
    fn fault(&mut self, _kind: FaultKind, _id: u64) {}
}

/// The largest order a stack can have: its addresses would not fit what any processor has.
const STACK_ORDER_MAX: u64 = 48;

/// The heap as of the last event.
#[derive(Debug)]
pub(crate) struct Heap<T> {
    units: Units,
    shares_slots: bool,
    spans: SpanTable<T>,
    /// Objects that lie in no slot, by their id.
    strays: HashMap<u64, T, RandomState>,
    /// Sizes of stacks in bytes, by their id.
    stacks: HashMap<u64, u64, RandomState>,
}

impl<T: Copy> Heap<T> {
    /// An empty heap. `shares_slots` says whether the writer, as Go does, puts several tiny objects
    /// into one slot and frees them as one.
    pub(crate) fn new(units: Units, shares_slots: bool) -> Heap<T> {
        Heap {
            units,
            shares_slots,
            spans: SpanTable::new(units),
            strays: HashMap::default(),
            stacks: HashMap::default(),
        }
    }

    /// What the ids of this heap count in.
    pub(crate) fn units(&self) -> Units {
        self.units
    }

    /// Replays an event.
    #[inline]
    pub(crate) fn apply(&mut self, event: AllocFree, to: &mut impl Listener<Tag = T>) {
        match event {
            AllocFree::HeapObjectAlloc { id, .. } => self.object_in(id, In::Allocated, to),
            AllocFree::HeapObjectFree { id } => self.object_out(id, to),
            AllocFree::HeapObject { id, .. } => self.object_in(id, In::Existed, to),
            AllocFree::Span { id, pages, kindclass } => {
                self.span_in(id, pages, kindclass, In::Existed, to);
            }
            AllocFree::SpanAlloc { id, pages, kindclass } => {
                self.span_in(id, pages, kindclass, In::Allocated, to);
            }
            AllocFree::SpanFree { id } => self.span_out(id, to),
            AllocFree::Stack { id, order } => self.stack_in(id, order, In::Existed, to),
            AllocFree::StackAlloc { id, order } => self.stack_in(id, order, In::Allocated, to),
            AllocFree::StackFree { id } => match self.stacks.remove(&id) {
                Some(bytes) => to.stack_out(bytes, Out::Freed),
                None => to.fault(FaultKind::StackFreeWithoutAlloc, id),
            },
        }
    }

    /// All spans, in no order.
    pub(crate) fn spans(&self) -> impl Iterator<Item = SpanView<'_, T>> {
        self.spans.iter()
    }

    /// All stacks: their ids and sizes in bytes, in no order.
    pub(crate) fn stacks(&self) -> impl Iterator<Item = (u64, u64)> {
        self.stacks.iter().map(|(&id, &bytes)| (id, bytes))
    }

    /// All objects that lie in no slot, in no order.
    pub(crate) fn strays(&self) -> impl Iterator<Item = T> {
        self.strays.values().copied()
    }

    /// The slot an object lies in, where its page alone tells it.
    #[inline]
    pub(crate) fn slot_of(&self, id: u64) -> Option<Slot> {
        self.spans.slot_of(id)
    }

    /// What lies in all slots that [`Heap::slot_of`] tells, by number.
    pub(crate) fn slots(&mut self) -> &mut [Option<T>] {
        self.spans.slots()
    }

    /// There is an object more.
    #[inline]
    pub(crate) fn object_in(&mut self, id: u64, how: In, to: &mut impl Listener<Tag = T>) {
        match self.spans.quick(id) {
            Some((slot, class)) if slot.is_none() => {
                *slot = Some(to.object_in(PLACES[usize::from(class)], how));
            }
            _ => self.object_in_anywhere(id, how, to),
        }
    }

    #[inline(never)]
    fn object_in_anywhere(&mut self, id: u64, how: In, to: &mut impl Listener<Tag = T>) {
        let found = self.spans.at_page(self.units.page_of(id));
        let Some((number, span)) = found.and_then(|at| Some((at, self.spans.get(at)?))) else {
            to.fault(FaultKind::ObjectInNoSpan, id);
            return self.stray_in(id, how, to);
        };
        let Some(slot) = span.slot_at(self.units.bytes_from(span.start, id)) else {
            match span.kind {
                SpanKind::Other => to.fault(FaultKind::ObjectInOtherSpan, id),
                SpanKind::Small(_) | SpanKind::Large => to.fault(FaultKind::ObjectOutsideSlots, id),
                // Its span was a fault already.
                SpanKind::Unknown => {}
            }
            return self.stray_in(id, how, to);
        };
        let (place, is_tiny) = (place(span), span.is_tiny);
        if let Some(old) = self.spans.object(number, slot) {
            if how == In::Allocated && is_tiny && self.shares_slots {
                return to.object_shares();
            }
            if !replaces(id, how, to) {
                return;
            }
            to.object_out(place, old, Out::Vanished);
        }
        let tag = to.object_in(place, how);
        self.spans.put(number, slot, tag);
    }

    fn stray_in(&mut self, id: u64, how: In, to: &mut impl Listener<Tag = T>) {
        if let Some(&old) = self.strays.get(&id) {
            if !replaces(id, how, to) {
                return;
            }
            to.object_out(NOWHERE, old, Out::Vanished);
        }
        self.strays.insert(id, to.object_in(NOWHERE, how));
    }

    /// An object is freed.
    #[inline]
    pub(crate) fn object_out(&mut self, id: u64, to: &mut impl Listener<Tag = T>) {
        if let Some((slot, class)) = self.spans.quick(id)
            && let Some(tag) = slot.take()
        {
            return to.object_out(PLACES[usize::from(class)], tag, Out::Freed);
        }
        self.object_out_anywhere(id, to);
    }

    #[inline(never)]
    fn object_out_anywhere(&mut self, id: u64, to: &mut impl Listener<Tag = T>) {
        if let Some(number) = self.spans.at_page(self.units.page_of(id))
            && let Some(span) = self.spans.get(number)
            && let Some(slot) = span.slot_at(self.units.bytes_from(span.start, id))
        {
            let place = place(span);
            if let Some(tag) = self.spans.take(number, slot) {
                return to.object_out(place, tag, Out::Freed);
            }
        }
        match self.strays.remove(&id) {
            Some(tag) => to.object_out(NOWHERE, tag, Out::Freed),
            None => to.fault(FaultKind::FreeWithoutAlloc, id),
        }
    }

    fn span_in(
        &mut self,
        start: u64,
        pages: u64,
        kindclass: u64,
        how: In,
        to: &mut impl Listener<Tag = T>,
    ) {
        let Some(span) = Span::new(start, pages, kindclass, &self.units) else {
            return to.fault(FaultKind::SpanOutOfRange, start);
        };
        if span.kind == SpanKind::Unknown {
            to.fault(FaultKind::SpanOfUnknownClass, start);
        }
        if let Some(old) = self.spans.at_page(start).and_then(|number| self.spans.get(number))
            && how == In::Existed
            && (old.start, old.pages, old.kind) == (start, pages, span.kind)
        {
            // The same said twice: what is known of its objects holds.
            return to.fault(FaultKind::SpanOverlap, start);
        }
        while let Some(old) = self.spans.overlapping(start, span.end()) {
            to.fault(FaultKind::SpanOverlap, start);
            self.remove_span(old, Out::Vanished, to);
        }
        to.span_in(span.pages, how);
        self.spans.insert(span);
    }

    fn span_out(&mut self, start: u64, to: &mut impl Listener<Tag = T>) {
        if !self.remove_span(start, Out::Freed, to) {
            to.fault(FaultKind::SpanFreeWithoutAlloc, start);
        }
    }

    /// Removes the span that begins at this page; returns whether there was one.
    fn remove_span(&mut self, start: u64, how: Out, to: &mut impl Listener<Tag = T>) -> bool {
        let Some((span, objects)) = self.spans.remove(start) else {
            return false;
        };
        if how == Out::Freed && !objects.is_empty() {
            to.fault(FaultKind::SpanFreeWithObjects, start);
        }
        for tag in objects {
            to.object_out(place(&span), tag, Out::Vanished);
        }
        to.span_out(span.pages, how);
        true
    }

    fn stack_in(&mut self, id: u64, order: u64, how: In, to: &mut impl Listener) {
        let mut bytes = stack_size(order);
        if bytes == 0 || order > STACK_ORDER_MAX {
            to.fault(FaultKind::StackOfUnknownSize, id);
            bytes = 0;
        }
        if let Some(old) = self.stacks.insert(id, bytes) {
            to.fault(FaultKind::StackOverlap, id);
            to.stack_out(old, Out::Vanished);
        }
        to.stack_in(bytes, how);
    }
}

/// An object in a slot in use is a fault. Returns whether it takes the place of the one there: an
/// alloc does, since a free must be missing; what is said to exist may be the one there.
fn replaces<T>(id: u64, how: In, to: &mut impl Listener<Tag = T>) -> bool {
    match how {
        In::Allocated => to.fault(FaultKind::DoubleAlloc, id),
        In::Existed => to.fault(FaultKind::DoubleExist, id),
    }
    how == In::Allocated
}

const NOWHERE: Place = Place { class: Class::NONE, bytes: 0 };

/// Where objects of a size class lie, by its number.
pub(crate) static PLACES: [Place; size_class::COUNT] = {
    let mut places = [NOWHERE; size_class::COUNT];
    let mut class = 1;
    while class < places.len() {
        if let Some(size) = SizeClass::new(class as u8) {
            places[class] = Place { class: Class(class as u8), bytes: size.slot_size() as u64 };
        }
        class += 1;
    }
    places
};

/// Where the objects of a span lie.
pub(crate) fn place<T>(span: &Span<T>) -> Place {
    Place { class: Class::of(span.kind), bytes: span.slot_bytes }
}

#[cfg(test)]
mod model_test;
#[cfg(test)]
mod tests;
