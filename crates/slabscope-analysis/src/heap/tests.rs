//! One case after the other, told by what the listener hears.

use super::*;

/// Writes down what it hears.
#[derive(Debug, Default)]
struct Heard {
    lines: Vec<String>,
    /// The number of the event: what objects are known by.
    event: usize,
}

impl Listener for Heard {
    type Tag = usize;

    fn object_in(&mut self, place: Place, how: In) -> usize {
        self.lines.push(format!("object {how:?} {} {}", place.bytes, self.event));
        self.event
    }
    fn object_out(&mut self, place: Place, tag: usize, how: Out) {
        self.lines.push(format!("object {how:?} {} {tag}", place.bytes));
    }
    fn object_shares(&mut self) {
        self.lines.push("shares".to_owned());
    }
    fn span_in(&mut self, pages: u64, how: In) {
        self.lines.push(format!("span {how:?} {pages}"));
    }
    fn span_out(&mut self, pages: u64, how: Out) {
        self.lines.push(format!("span {how:?} {pages}"));
    }
    fn stack_in(&mut self, bytes: u64, how: In) {
        self.lines.push(format!("stack {how:?} {bytes}"));
    }
    fn stack_out(&mut self, bytes: u64, how: Out) {
        self.lines.push(format!("stack {how:?} {bytes}"));
    }
    fn fault(&mut self, kind: FaultKind, id: u64) {
        self.lines.push(format!("FAULT {kind:?} {id}"));
    }
}

/// What is heard of these events.
fn heard(shares_slots: bool, events: &[AllocFree]) -> Vec<String> {
    let mut heap = Heap::new(Units::default(), shares_slots);
    let mut heard = Heard::default();
    for (n, &event) in events.iter().enumerate() {
        heard.event = n;
        heap.apply(event, &mut heard);
    }
    heard.lines
}

const CLASS_48: u64 = 5 << 2 | 2;
const LARGE: u64 = 2;

fn span(id: u64, pages: u64, kindclass: u64) -> AllocFree {
    AllocFree::SpanAlloc { id, pages, kindclass }
}

fn alloc(id: u64) -> AllocFree {
    AllocFree::HeapObjectAlloc { id, ty: 0 }
}

fn free(id: u64) -> AllocFree {
    AllocFree::HeapObjectFree { id }
}

#[test]
fn an_address_inside_a_slot_is_the_slots() {
    // Go's objects with a header begin a word behind the slot.
    let events = [span(2, 1, CLASS_48), alloc(2049), free(2048), AllocFree::SpanFree { id: 2 }];
    let expected =
        ["span Allocated 1", "object Allocated 48 1", "object Freed 48 1", "span Freed 1"];
    assert_eq!(heard(true, &events), expected);
}

#[test]
fn a_large_object_fills_its_span() {
    let events = [span(0, 100, LARGE), alloc(50 * 1024), free(0)];
    let expected = ["span Allocated 100", "object Allocated 819200 1", "object Freed 819200 1"];
    assert_eq!(heard(false, &events), expected);
}

#[test]
fn tiny_objects_share_a_slot_in_go_and_nowhere_else() {
    let tiny = 2 << 2 | 2;
    let events = [span(0, 1, tiny), alloc(0), alloc(0), alloc(1), free(0), free(0)];
    let go = [
        "span Allocated 1",
        "object Allocated 16 1",
        "shares",
        "shares",
        "object Freed 16 1",
        "FAULT FreeWithoutAlloc 0",
    ];
    assert_eq!(heard(true, &events), go);
    let ours = heard(false, &events);
    assert_eq!(ours.iter().filter(|line| line.starts_with("FAULT DoubleAlloc")).count(), 2);
    // With pointers in them, Go does not pack them either.
    let events = [span(0, 1, 2 << 2), alloc(0), alloc(0)];
    assert!(heard(true, &events).contains(&"FAULT DoubleAlloc 0".to_owned()));
}

#[test]
fn the_newer_of_two_objects_stays() {
    let events = [span(0, 1, CLASS_48), alloc(0), alloc(0), free(0)];
    let expected = [
        "span Allocated 1",
        "object Allocated 48 1",
        "FAULT DoubleAlloc 0",
        "object Vanished 48 1",
        "object Allocated 48 2",
        "object Freed 48 2",
    ];
    assert_eq!(heard(false, &events), expected);
}

#[test]
fn what_exists_twice_is_counted_once() {
    let exists = AllocFree::HeapObject { id: 6, ty: 0 };
    let there = AllocFree::Span { id: 0, pages: 1, kindclass: CLASS_48 };
    let events = [there, alloc(6), there, exists, free(6)];
    let expected = [
        "span Existed 1",
        "object Allocated 48 1",
        "FAULT SpanOverlap 0",
        "FAULT DoubleExist 6",
        "object Freed 48 1",
    ];
    assert_eq!(heard(false, &events), expected);
}

#[test]
fn objects_outside_slots_are_faults_and_can_be_freed() {
    let unknown = 68 << 2;
    let events = [
        alloc(9999),
        free(9999),
        span(0, 1, 1),
        alloc(0),
        free(0),
        span(1, 1, CLASS_48),
        // Behind 170 slots of 48 bytes 32 bytes stay.
        alloc(1024 + 1020),
        span(2, 1, unknown),
        alloc(2048),
    ];
    let expected = [
        "FAULT ObjectInNoSpan 9999",
        "object Allocated 0 0",
        "object Freed 0 0",
        "span Allocated 1",
        "FAULT ObjectInOtherSpan 0",
        "object Allocated 0 3",
        "object Freed 0 3",
        "span Allocated 1",
        "FAULT ObjectOutsideSlots 2044",
        "object Allocated 0 6",
        "FAULT SpanOfUnknownClass 2",
        "span Allocated 1",
        "object Allocated 0 8",
    ];
    assert_eq!(heard(false, &events), expected);
}

#[test]
fn spans_take_their_objects_with_them() {
    let events = [
        span(4, 2, CLASS_48),
        alloc(4 * 1024),
        span(5, 4, LARGE),
        alloc(5 * 1024),
        AllocFree::SpanFree { id: 5 },
        AllocFree::SpanFree { id: 5 },
        span(0, 0, LARGE),
    ];
    let expected = [
        "span Allocated 2",
        "object Allocated 48 1",
        "FAULT SpanOverlap 5",
        "object Vanished 48 1",
        "span Vanished 2",
        "span Allocated 4",
        "object Allocated 32768 3",
        "FAULT SpanFreeWithObjects 5",
        "object Vanished 32768 3",
        "span Freed 4",
        "FAULT SpanFreeWithoutAlloc 5",
        "FAULT SpanOutOfRange 0",
    ];
    assert_eq!(heard(false, &events), expected);
}

#[test]
fn stacks_come_and_go() {
    let events = [
        AllocFree::Stack { id: 1, order: 12 },
        AllocFree::StackAlloc { id: 2, order: 13 },
        AllocFree::StackAlloc { id: 2, order: 14 },
        AllocFree::StackFree { id: 1 },
        AllocFree::StackFree { id: 1 },
        AllocFree::StackAlloc { id: 3, order: 60 },
    ];
    let expected = [
        "stack Existed 2048",
        "stack Allocated 4096",
        "FAULT StackOverlap 2",
        "stack Vanished 4096",
        "stack Allocated 8192",
        "stack Freed 2048",
        "FAULT StackFreeWithoutAlloc 1",
        "FAULT StackOfUnknownSize 3",
        "stack Allocated 0",
    ];
    assert_eq!(heard(false, &events), expected);
}

#[test]
fn a_span_of_absurd_length_costs_nothing() {
    let events = [span(0, 1 << 50, CLASS_48), alloc(1 << 59), free(1 << 59)];
    let heard = heard(false, &events);
    assert!(!heard.iter().any(|line| line.starts_with("FAULT")), "{heard:?}");
}
