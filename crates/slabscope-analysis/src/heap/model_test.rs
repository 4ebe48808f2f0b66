//! The heap against a model that keeps flat lists and searches them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use slabscope_trace::Placer;

use super::*;

const PAGE: u64 = 8192;

/// A kindclass of each sort: others, large, tiny, 48-byte, pointerful 32 KiB, unknown.
const KINDCLASSES: [u64; 6] = [1, 2, 2 << 2 | 2, 5 << 2 | 2, 67 << 2, 70 << 2];

/// What both must agree on: figures of live things, and how often each fault was.
#[derive(Debug, Default, PartialEq, Eq)]
struct Figures {
    objects: u64,
    bytes: u64,
    sharing: u64,
    freed: u64,
    vanished: u64,
    pages: u64,
    faults: BTreeMap<FaultKind, u64>,
}

impl Listener for Figures {
    type Tag = ();

    fn object_in(&mut self, place: Place, _: In) {
        self.objects += 1;
        self.bytes += place.bytes;
    }
    fn object_out(&mut self, place: Place, (): (), how: Out) {
        self.objects -= 1;
        self.bytes -= place.bytes;
        match how {
            Out::Freed => self.freed += 1,
            Out::Vanished => self.vanished += 1,
        }
    }
    fn object_shares(&mut self) {
        self.sharing += 1;
    }
    fn span_in(&mut self, pages: u64, _: In) {
        self.pages += pages;
    }
    fn span_out(&mut self, pages: u64, _: Out) {
        self.pages -= pages;
    }
    fn stack_in(&mut self, _: u64, _: In) {}
    fn stack_out(&mut self, _: u64, _: Out) {}
    fn fault(&mut self, kind: FaultKind, _: u64) {
        *self.faults.entry(kind).or_default() += 1;
    }
}

/// First page, pages, kindclass.
type NaiveSpan = (u64, u64, u64);

/// Lists of everything.
#[derive(Debug, Default)]
struct Naive {
    spans: Vec<NaiveSpan>,
    /// Address and bytes of the slots in use.
    slots: Vec<(u64, u64)>,
    strays: Vec<u64>,
    figures: Figures,
}

impl Naive {
    fn fault(&mut self, kind: FaultKind) {
        *self.figures.faults.entry(kind).or_default() += 1;
    }

    fn span_at(&self, address: u64) -> Option<NaiveSpan> {
        let holds =
            |&&(start, pages, _): &&NaiveSpan| (start..start + pages).contains(&(address / PAGE));
        self.spans.iter().find(holds).copied()
    }

    /// Address and bytes of the slot there.
    fn slot_at(&self, address: u64) -> Option<(u64, u64)> {
        let (start, pages, kindclass) = self.span_at(address)?;
        let (base, bytes) = (start * PAGE, pages * PAGE);
        match kindclass {
            2 => Some((base, bytes)),
            kindclass if kindclass & 1 == 1 => None,
            kindclass => {
                let sizes = BTreeMap::from([(2, 16), (5, 48), (67, 32_768)]);
                let size = *sizes.get(&(kindclass >> 2))?;
                let slots = (0..bytes / size).map(|n| base + n * size);
                slots
                    .into_iter()
                    .find(|&slot| (slot..slot + size).contains(&address))
                    .zip(Some(size))
            }
        }
    }

    fn object_in(&mut self, address: u64, is_alloc: bool) {
        let span = self.span_at(address);
        match (self.slot_at(address), span) {
            (Some(slot), Some((_, _, kindclass))) => {
                let is_used = self.slots.contains(&slot);
                if is_used && is_alloc && kindclass == (2 << 2 | 2) {
                    self.figures.sharing += 1;
                    return;
                }
                if !self.may_enter(is_used, is_alloc) {
                    return;
                }
                self.slots.retain(|&other| other != slot);
                self.slots.push(slot);
            }
            (_, span) => {
                match span {
                    None => self.fault(FaultKind::ObjectInNoSpan),
                    Some((_, _, 1)) => self.fault(FaultKind::ObjectInOtherSpan),
                    Some((_, _, kindclass)) if kindclass == 70 << 2 => {}
                    Some(_) => self.fault(FaultKind::ObjectOutsideSlots),
                }
                let is_used = self.strays.contains(&address);
                if self.may_enter(is_used, is_alloc) && !is_used {
                    self.strays.push(address);
                }
            }
        }
    }

    fn may_enter(&mut self, is_used: bool, is_alloc: bool) -> bool {
        if is_used && is_alloc {
            self.fault(FaultKind::DoubleAlloc);
            self.figures.vanished += 1;
        } else if is_used {
            self.fault(FaultKind::DoubleExist);
        }
        !is_used || is_alloc
    }

    fn object_out(&mut self, address: u64) {
        let slot = self.slot_at(address);
        if let Some(at) = self.slots.iter().position(|&used| Some(used) == slot) {
            self.slots.remove(at);
        } else if let Some(at) = self.strays.iter().position(|&stray| stray == address) {
            self.strays.remove(at);
        } else {
            return self.fault(FaultKind::FreeWithoutAlloc);
        }
        self.figures.freed += 1;
    }

    fn span_in(&mut self, span: NaiveSpan, is_alloc: bool) {
        let (start, pages, kindclass) = span;
        if pages == 0 {
            return self.fault(FaultKind::SpanOutOfRange);
        }
        if kindclass == 70 << 2 {
            self.fault(FaultKind::SpanOfUnknownClass);
        }
        if !is_alloc && self.spans.contains(&span) {
            return self.fault(FaultKind::SpanOverlap);
        }
        let overlaps = |other: &NaiveSpan| other.0 < start + pages && start < other.0 + other.1;
        let gone: Vec<_> = self.spans.iter().copied().filter(overlaps).collect();
        for span in gone {
            self.fault(FaultKind::SpanOverlap);
            self.remove(span);
        }
        self.spans.push(span);
    }

    fn span_out(&mut self, start: u64) {
        match self.spans.iter().find(|span| span.0 == start).copied() {
            None => self.fault(FaultKind::SpanFreeWithoutAlloc),
            Some(span) => {
                if self.remove(span) > 0 {
                    self.fault(FaultKind::SpanFreeWithObjects);
                }
            }
        }
    }

    fn remove(&mut self, span: NaiveSpan) -> u64 {
        self.spans.retain(|&other| other != span);
        let before = self.slots.len();
        let pages = span.0..span.0 + span.1;
        self.slots.retain(|(address, _)| !pages.contains(&(address / PAGE)));
        let gone = (before - self.slots.len()) as u64;
        self.figures.vanished += gone;
        gone
    }

    fn figures(mut self) -> Figures {
        self.figures.objects = (self.slots.len() + self.strays.len()) as u64;
        self.figures.bytes = self.slots.iter().map(|slot| slot.1).sum();
        self.figures.pages = self.spans.iter().map(|span| span.1).sum();
        self.figures
    }
}

/// Few pages and few places in them, so that events meet each other.
fn event() -> impl Strategy<Value = AllocFree> {
    let kindclass = prop::sample::select(&KINDCLASSES[..]);
    let span = (0..24_u64, prop_oneof![9 => 1..5_u64, 1 => 0..20_u64], kindclass);
    let object = (0..26_u64, prop::sample::select(&[0_u64, 1, 2, 6, 7, 512, 1020, 1023][..]))
        .prop_map(|(page, offset)| page * 1024 + offset);
    prop_oneof![
        4 => span.clone().prop_map(|(id, pages, kindclass)| AllocFree::SpanAlloc {
            id, pages, kindclass
        }),
        1 => span.prop_map(|(id, pages, kindclass)| AllocFree::Span { id, pages, kindclass }),
        2 => (0..24_u64).prop_map(|id| AllocFree::SpanFree { id }),
        8 => object.clone().prop_map(|id| AllocFree::HeapObjectAlloc { id, ty: 0 }),
        1 => object.clone().prop_map(|id| AllocFree::HeapObject { id, ty: 0 }),
        6 => object.prop_map(|id| AllocFree::HeapObjectFree { id }),
    ]
}

proptest! {
    #[test]
    fn heap_and_lists_agree(events in prop::collection::vec(event(), 0..200)) {
        let mut heap = Heap::new(Units::default(), true);
        let (mut figures, mut naive) = (Figures::default(), Naive::default());
        for event in events {
            heap.apply(event, &mut figures);
            match event {
                AllocFree::Span { id, pages, kindclass } => {
                    naive.span_in((id, pages, kindclass), false);
                }
                AllocFree::SpanAlloc { id, pages, kindclass } => {
                    naive.span_in((id, pages, kindclass), true);
                }
                AllocFree::SpanFree { id } => naive.span_out(id),
                AllocFree::HeapObject { id, .. } => naive.object_in(id * 8, false),
                AllocFree::HeapObjectAlloc { id, .. } => naive.object_in(id * 8, true),
                AllocFree::HeapObjectFree { id } => naive.object_out(id * 8),
                _ => {}
            }
        }
        let live: u64 = heap.spans().map(|view| view.live() * view.span.slot_bytes).sum();
        let expected = naive.figures();
        prop_assert_eq!(live, expected.bytes);
        prop_assert_eq!(figures, expected);
    }

    #[test]
    fn the_spans_alone_number_slots_as_the_heap_does(
        events in prop::collection::vec(event(), 0..200),
        cut in 0..200_usize,
    ) {
        let mut heap = Heap::new(Units::default(), true);
        let (mut geography, mut figures) = (Geography::of(&heap), Figures::default());
        for (number, event) in events.into_iter().enumerate() {
            if number == cut {
                geography = Geography::of(&heap);
            }
            match event {
                AllocFree::HeapObjectAlloc { id, .. } | AllocFree::HeapObjectFree { id } => {
                    let place = geography.place(id).map(|place| (place.slot, place.class.get()));
                    prop_assert_eq!(place, heap.slot_of(id).map(|slot| (slot.number, slot.class)));
                }
                other => geography.other(other),
            }
            heap.apply(event, &mut figures);
        }
    }
}
