//! Places that are found ahead: the events are the same, and those with a place come in rows.

mod support;

use std::num::NonZeroU8;
use std::ops::ControlFlow;

use slabscope_trace::alloc_free::AllocFree;
use slabscope_trace::{Open, Place, Placer, Reader, Row, Run, ThreadId, Time, Visitor};
use slabscope_wire::event::id;

use support::{REAL, START, Trace};

/// Knows the places of objects with even numbers, once two spans were seen.
#[derive(Default)]
struct Even {
    spans: u32,
}

impl Placer for Even {
    fn place(&mut self, id: u64) -> Option<Place> {
        let class = NonZeroU8::new(1 + (id % 68) as u8)?;
        (self.spans > 1 && id.is_multiple_of(2)).then_some(Place { slot: id as u32 / 2, class })
    }

    fn other(&mut self, what: AllocFree) {
        self.spans += u32::from(matches!(what, AllocFree::SpanAlloc { .. }));
    }
}

/// All events, and of those in rows how many there are.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    thread: i64,
    events: Vec<(i64, i64, Option<AllocFree>)>,
    placed: usize,
}

impl Seen {
    fn take(&mut self, time: Time, what: Option<AllocFree>) -> ControlFlow<()> {
        self.events.push((time.0, self.thread, what));
        ControlFlow::Continue(())
    }
}

impl Visitor for Seen {
    type Break = ();

    fn thread(&mut self, thread: ThreadId) -> ControlFlow<()> {
        self.thread = thread.0;
        ControlFlow::Continue(())
    }

    fn alloc(&mut self, time: Time, id: u64, ty: u64) -> ControlFlow<()> {
        self.take(time, Some(AllocFree::HeapObjectAlloc { id, ty }))
    }

    fn free(&mut self, time: Time, id: u64) -> ControlFlow<()> {
        self.take(time, Some(AllocFree::HeapObjectFree { id }))
    }

    fn placed(&mut self, row: Row<'_>) -> ControlFlow<()> {
        let slots: Vec<_> = row.slots().collect();
        assert_eq!(slots.len(), row.len());
        self.placed += row.len();
        for (event, slot) in row.into_iter().zip(slots) {
            assert_eq!((u64::from(slot) * 2, slot), (event.id, event.slot));
            assert_eq!(u64::from(event.class), 1 + event.id % 68);
            match event.is_alloc {
                true => self.alloc(event.time, event.id, event.ty)?,
                false => self.free(event.time, event.id)?,
            }
        }
        assert_eq!(self.events.last().map(|last| last.0), Some(row.last().0));
        ControlFlow::Continue(())
    }

    fn other(&mut self, time: Time, what: Option<AllocFree>) -> ControlFlow<()> {
        self.take(time, what)
    }
}

fn seen(mut reader: Reader<'_>) -> Seen {
    let mut seen = Seen::default();
    while let Some(run) = reader.next_run() {
        if let Run::Experimental(mut run) = run.unwrap() {
            assert_eq!(run.visit(&mut seen), ControlFlow::Continue(()));
        }
    }
    seen
}

/// Two threads whose events mix, many of them at the same times.
fn mixed() -> Vec<u8> {
    let mut trace = Trace::begun().events(
        7,
        START,
        &[(id::HEAP_OBJECT_FREE, &[1, 8]), (id::SPAN_ALLOC, &[1, 1, 1, 22])],
    );
    trace = trace.events(9, START + 4, &[(id::SPAN_ALLOC, &[1, 5, 1, 22])]);
    for thread in [7, 9] {
        let objects: Vec<_> = (0..3_000_u64).map(|n| [n % 5 / 4, n % 700, n % 3]).collect();
        let events = objects.iter().map(|args| match args[1] % 3 {
            0 => (id::HEAP_OBJECT_FREE, &args[..2]),
            _ => (id::HEAP_OBJECT_ALLOC, &args[..]),
        });
        trace = trace.events(thread, START + 10, &events.collect::<Vec<_>>());
    }
    trace.end().bytes
}

#[test]
fn the_events_are_the_same_with_and_without_places() {
    let bytes = mixed();
    let open = || Open::bytes(&bytes).unwrap();
    let without = seen(open().here());
    assert_eq!((without.events.len(), without.placed), (6_003, 0));
    for with in
        [seen(open().placing(Even::default()).here()), open().placing(Even::default()).ahead(seen)]
    {
        assert_eq!(with.events, without.events);
        let even = with.events.iter().filter(|(_, _, what)| match what {
            Some(AllocFree::HeapObjectAlloc { id, .. } | AllocFree::HeapObjectFree { id }) => {
                id.is_multiple_of(2)
            }
            _ => false,
        });
        // All but the first, which comes before the spans.
        assert_eq!(with.placed, even.count() - 1);
    }
}

#[test]
fn one_by_one_events_show_nothing_of_their_places() {
    for bytes in [&mixed()[..], REAL] {
        let told = |reader: Reader<'_>| -> Vec<String> {
            reader.map(|event| format!("{:?}", event.unwrap())).collect()
        };
        let open = || Open::bytes(bytes).unwrap();
        assert_eq!(told(open().placing(Even::default()).here()), told(open().here()));
    }
}
