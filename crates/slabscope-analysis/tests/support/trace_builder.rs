//! Traces made record by record, for tests.
//!
//! Times are nanoseconds. Counts of the heap's events are kept, so that a test can close its trace
//! with what is true or with what is not.
#![allow(dead_code, reason = "each test uses a part of it")]

use slabscope_wire::alloc_free::{self, EndReason, KINDCLASS_NOT_OBJECTS, data};
use slabscope_wire::event::id;
use slabscope_wire::{batch, header, varint};

/// The kindclass of spans with slots of 48 bytes.
pub(crate) const CLASS_48: u64 = 5 << 2 | 2;
/// The kindclass of spans with one large object.
pub(crate) const LARGE: u64 = 2;
/// The kindclass of spans without objects.
pub(crate) const OTHER: u64 = KINDCLASS_NOT_OBJECTS;

/// An event: its number, nanoseconds since the last one, its arguments.
pub(crate) type TimedEvent = (u8, u64, &'static [u64]);

/// A trace under construction.
#[derive(Debug, Clone)]
pub(crate) struct TraceBuilder {
    /// The file so far.
    pub(crate) bytes: Vec<u8>,
    /// Events of the heap so far, by kind.
    pub(crate) counts: [u64; 9],
    generation: u64,
    start: u64,
}

impl TraceBuilder {
    /// The header and nothing else.
    pub(crate) fn new() -> Self {
        let bytes = header::BYTES.to_vec();
        TraceBuilder { bytes, counts: [0; 9], generation: 0, start: 0 }
    }

    /// Begins a generation, with its clock; the wall clock shows as many seconds as the time is
    /// nanoseconds.
    pub(crate) fn begin(&mut self, start: u64) -> &mut Self {
        self.generation += 1;
        self.start = start;
        let mut payload = vec![id::SYNC, id::FREQUENCY];
        numbers(&mut payload, &[1_000_000_000]);
        payload.push(id::CLOCK_SNAPSHOT);
        numbers(&mut payload, &[0, start, start, 0]);
        self.batch(None, batch::NO_THREAD, start, &payload)
    }

    /// A batch of side data: its kind and the rest of it.
    pub(crate) fn side(&mut self, kind: u8, rest: &[u8]) -> &mut Self {
        let payload = [&[kind], rest].concat();
        self.batch(Some(alloc_free::EXPERIMENT), batch::NO_THREAD, self.start, &payload)
    }

    /// What ids count in, as all writers have it.
    pub(crate) fn info(&mut self) -> &mut Self {
        self.info_of_pages(alloc_free::PAGE_SIZE)
    }

    /// The same with pages of so many bytes.
    pub(crate) fn info_of_pages(&mut self, bytes: u64) -> &mut Self {
        let mut rest = Vec::new();
        numbers(&mut rest, &[1 << 32, bytes, 8, alloc_free::STACK_ALIGN]);
        self.side(data::INFO, &rest)
    }

    /// How the trace was made.
    pub(crate) fn build(&mut self, rows: &[(&str, &str)]) -> &mut Self {
        let mut rest = Vec::new();
        for (key, value) in rows {
            text(&mut rest, key);
            text(&mut rest, value);
        }
        self.side(data::BUILD, &rest)
    }

    /// Sites: number, size and innermost frame.
    pub(crate) fn sites_at(&mut self, sites: &[(u64, u64, u64)]) -> &mut Self {
        let mut rest = Vec::new();
        for &(site, size, frame) in sites {
            numbers(&mut rest, &[site, size, 8, frame]);
        }
        self.side(data::SITES, &rest)
    }

    /// Frames: number, parent and address.
    pub(crate) fn frames(&mut self, frames: &[(u64, u64, u64)]) -> &mut Self {
        let mut rest = Vec::new();
        for &(id, parent, address) in frames {
            numbers(&mut rest, &[id, parent, 0, address]);
        }
        self.side(data::FRAMES, &rest)
    }

    /// A module that is there all the time: its addresses, its bias, its file.
    pub(crate) fn module(&mut self, addresses: [u64; 2], bias: u64, path: &str) -> &mut Self {
        let mut rest = Vec::new();
        numbers(&mut rest, &[1, addresses[0], addresses[1], bias, 0, 0]);
        text(&mut rest, "");
        text(&mut rest, path);
        self.side(data::MODULES, &rest)
    }

    /// Sites: number and size.
    pub(crate) fn sites(&mut self, sites: &[(u64, u64)]) -> &mut Self {
        let mut rest = Vec::new();
        for &(site, size) in sites {
            numbers(&mut rest, &[site, size, 8, 0]);
        }
        self.side(data::SITES, &rest)
    }

    /// Threads: number, start, name.
    pub(crate) fn threads(&mut self, threads: &[(u64, u64, &str)]) -> &mut Self {
        let mut rest = Vec::new();
        for &(thread, start, name) in threads {
            numbers(&mut rest, &[thread, start, 0]);
            text(&mut rest, name);
        }
        self.side(data::THREADS, &rest)
    }

    /// Events of a thread from this time on.
    pub(crate) fn events(&mut self, thread: u64, time: u64, events: &[TimedEvent]) -> &mut Self {
        let mut payload = Vec::new();
        for &(event, dt, arguments) in events {
            payload.push(event);
            numbers(&mut payload, &[dt]);
            numbers(&mut payload, arguments);
            if let Some(count) = self.counts.get_mut(usize::from(event.wrapping_sub(id::SPAN))) {
                *count += 1;
            }
        }
        self.batch(None, thread, time, &payload)
    }

    /// Closing counts that say so many of each kind were lost, and the rest is there.
    pub(crate) fn closing(&mut self, reason: EndReason, lost: [u64; 9]) -> &mut Self {
        let happened: [u64; 9] = std::array::from_fn(|kind| self.counts[kind] + lost[kind]);
        self.closing_of(reason, happened, lost)
    }

    /// Closing counts as they are given.
    pub(crate) fn closing_of(
        &mut self,
        reason: EndReason,
        happened: [u64; 9],
        lost: [u64; 9],
    ) -> &mut Self {
        let mut rest = Vec::new();
        numbers(&mut rest, &[reason as u64]);
        for kind in 0..9 {
            numbers(&mut rest, &[u64::from(id::SPAN) + kind as u64, happened[kind], lost[kind]]);
        }
        numbers(&mut rest, &[0, happened.iter().sum()]);
        self.side(data::CLOSING, &rest)
    }

    /// Ends the generation.
    pub(crate) fn end(&mut self) -> &mut Self {
        self.bytes.push(id::END_OF_GENERATION);
        self
    }

    fn batch(
        &mut self,
        experiment: Option<u8>,
        thread: u64,
        time: u64,
        payload: &[u8],
    ) -> &mut Self {
        match experiment {
            None => self.bytes.push(id::EVENT_BATCH),
            Some(experiment) => self.bytes.extend([id::EXPERIMENTAL_BATCH, experiment]),
        }
        numbers(&mut self.bytes, &[self.generation, thread, time, payload.len() as u64]);
        self.bytes.extend_from_slice(payload);
        self
    }
}

fn numbers(out: &mut Vec<u8>, numbers: &[u64]) {
    for &number in numbers {
        let (bytes, len) = varint::encode(number);
        out.extend_from_slice(&bytes[..len]);
    }
}

fn text(out: &mut Vec<u8>, text: &str) {
    numbers(out, &[text.len() as u64]);
    out.extend_from_slice(text.as_bytes());
}

/// A sound trace of ours: two threads, two generations, every kind of event, hostile names.
pub(crate) fn sound() -> TraceBuilder {
    let mut trace = TraceBuilder::new();
    trace.begin(1_000_000).info();
    trace.build(&[
        ("writer", "slabscope 0.1.0"),
        ("executable", "/opt/app"),
        ("command", "app \u{1b}[31m--red"),
        ("pid", "12"),
        ("options", "traceallocfree=1"),
        ("rings", "rseq"),
        ("cpus", "2"),
        ("clock", "tsc"),
    ]);
    trace.sites(&[(1, 40), (2, 100_000)]);
    trace.threads(&[(7, 900_000, "main"), (8, 1_100_000, "work\u{1b}[2Jer")]);
    trace.events(
        7,
        1_000_000,
        &[
            (id::SPAN, 0, &[0, 1, CLASS_48]),
            (id::HEAP_OBJECT, 0, &[0, 0]),
            (id::GOROUTINE_STACK, 0, &[100, 24]),
            (id::SPAN_ALLOC, 500_000, &[1, 13, LARGE]),
            (id::HEAP_OBJECT_ALLOC, 0, &[1024, 2]),
            (id::HEAP_OBJECT_ALLOC, 0, &[6, 1]),
            (id::SPAN_ALLOC, 0, &[20, 8, OTHER]),
            (id::GOROUTINE_STACK_ALLOC, 0, &[80, 17]),
        ],
    );
    trace.events(
        8,
        2_000_000,
        &[
            (id::HEAP_OBJECT_FREE, 0, &[1024]),
            (id::SPAN_FREE, 0, &[1]),
            (id::HEAP_OBJECT_ALLOC, 0, &[12, 1]),
        ],
    );
    trace.end().begin(1_002_000_000).info().build(&[("writer", "slabscope 0.1.0")]);
    trace.sites(&[(1, 40)]).threads(&[(7, 900_000, "main")]);
    trace.events(
        7,
        1_002_000_500,
        &[
            (id::HEAP_OBJECT_FREE, 0, &[0]),
            (id::HEAP_OBJECT_FREE, 0, &[12]),
            (id::HEAP_OBJECT_ALLOC, 1_000, &[0, 1]),
            (id::GOROUTINE_STACK_FREE, 0, &[80]),
            (id::SPAN_FREE, 0, &[20]),
        ],
    );
    trace
}
