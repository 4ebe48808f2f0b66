//! Traces made by hand, for tests: batches written as our own writer writes them.
#![expect(dead_code, reason = "each test program uses a part of it")]

use slabscope_trace::{Error, Event, Reader};
use slabscope_wire::batch::{BatchHeader, BatchKind, HEADER_MAX, NO_THREAD};
use slabscope_wire::buffer::Buffer;
use slabscope_wire::event::id;
use slabscope_wire::{header, varint};

/// A real trace of Go 1.27 with the AllocFree experiment.
pub(crate) const REAL: &[u8] = include_bytes!("../data/go1.27-allocfree-small.trace");

/// The time at which each generation made here begins, in nanoseconds.
pub(crate) const START: u64 = 1000;

/// A trace being made.
#[derive(Clone)]
pub(crate) struct Trace {
    pub(crate) bytes: Vec<u8>,
    version: u8,
    generation: u64,
}

impl Trace {
    /// A trace of the newest format, in generation 1.
    pub(crate) fn new() -> Self {
        Trace { bytes: header::BYTES.to_vec(), version: header::NEWEST, generation: 1 }
    }

    /// A trace of an older format.
    pub(crate) fn of_version(version: u8) -> Self {
        let bytes = format!("go 1.{version} trace\0\0\0").into_bytes();
        Trace { bytes, version, generation: 1 }
    }

    /// A trace of the newest format whose first generation has its clock.
    pub(crate) fn begun() -> Self {
        Trace::new().clock()
    }

    /// Goes on with a trace of the newest format.
    pub(crate) fn after(bytes: &[u8]) -> Self {
        Trace { bytes: bytes.to_vec(), ..Trace::new() }
    }

    /// Gives the batches from here on another generation.
    pub(crate) fn generation(mut self, generation: u64) -> Self {
        self.generation = generation;
        self
    }

    pub(crate) fn raw(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend(bytes);
        self
    }

    fn framed(mut self, kind: BatchKind, thread: u64, time: u64, payload: &[u8]) -> Self {
        let mut bytes = [0; HEADER_MAX];
        let mut out = Buffer::new(&mut bytes);
        let header = BatchHeader { kind, generation: self.generation, thread, time };
        assert!(header.write(&mut out, payload.len()));
        self.bytes.extend(out.written());
        self.bytes.extend(payload);
        self
    }

    /// Adds a normal batch.
    pub(crate) fn batch(self, thread: u64, time: u64, payload: &[u8]) -> Self {
        self.framed(BatchKind::Normal, thread, time, payload)
    }

    /// Adds a batch of no thread, at the generation's start.
    pub(crate) fn table(self, payload: &[u8]) -> Self {
        self.batch(NO_THREAD, START, payload)
    }

    /// Adds an experimental batch.
    pub(crate) fn side(self, experiment: u8, payload: &[u8]) -> Self {
        self.framed(BatchKind::Experimental(experiment), NO_THREAD, START, payload)
    }

    /// Adds a batch of events, each its number, and its time difference before its arguments.
    pub(crate) fn events(self, thread: u64, time: u64, list: &[(u8, &[u64])]) -> Self {
        self.batch(thread, time, &events(list))
    }

    /// Adds the generation's clock: a tick is a nanosecond.
    pub(crate) fn clock(self) -> Self {
        let payload = clock(self.version, 1_000_000_000);
        self.table(&payload)
    }

    /// Ends the generation; the next one has its clock already.
    pub(crate) fn next(self) -> Self {
        let generation = self.generation + 1;
        self.end().generation(generation).clock()
    }

    /// Ends the generation.
    pub(crate) fn end(self) -> Self {
        if self.version >= 26 { self.raw(&[id::END_OF_GENERATION]) } else { self }
    }

    /// Ends the generation and reads the whole.
    pub(crate) fn read(self) -> (Vec<Event>, Option<Error>) {
        read(&self.end().bytes)
    }

    /// The same, for a trace that must be good.
    pub(crate) fn good(self) -> Vec<Event> {
        let (events, error) = self.read();
        assert_eq!(error, None);
        events
    }

    /// The same, for a trace that must not be.
    pub(crate) fn error(self) -> Error {
        self.read().1.expect("this trace has a fault")
    }
}

/// All events of a trace, and why there are no more.
pub(crate) fn read(bytes: &[u8]) -> (Vec<Event>, Option<Error>) {
    let mut events = Vec::new();
    let reader = match Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return (events, Some(error)),
    };
    for event in reader {
        match event {
            Ok(event) => events.push(event),
            Err(error) => return (events, Some(error)),
        }
    }
    (events, None)
}

/// Events as Go's tool prints them, without those that only begin a generation or end the trace.
pub(crate) fn lines(events: &[Event]) -> Vec<String> {
    let lines = events.iter().map(Event::to_string);
    lines.filter(|line| !line.contains(" Sync ")).collect()
}

/// Appends a number.
pub(crate) fn put(out: &mut Vec<u8>, number: u64) {
    let (bytes, len) = varint::encode(number);
    out.extend(&bytes[..len]);
}

/// One record: its number and its arguments.
pub(crate) fn record(id: u8, args: &[u64]) -> Vec<u8> {
    let mut out = vec![id];
    args.iter().for_each(|&arg| put(&mut out, arg));
    out
}

/// The payload of a batch of events.
pub(crate) fn events(list: &[(u8, &[u64])]) -> Vec<u8> {
    list.iter().flat_map(|(id, args)| record(*id, args)).collect()
}

/// The payload of a strings batch.
pub(crate) fn strings(list: &[(u64, &[u8])]) -> Vec<u8> {
    let mut out = vec![id::STRINGS];
    for (number, bytes) in list {
        out.extend(record(id::STRING, &[*number, bytes.len() as u64]));
        out.extend(*bytes);
    }
    out
}

/// The payload of a stacks batch; a frame is its address, function, file and line.
pub(crate) fn stacks(list: &[(u64, &[[u64; 4]])]) -> Vec<u8> {
    let mut out = vec![id::STACKS];
    for (number, frames) in list {
        out.extend(record(id::STACK, &[*number, frames.len() as u64]));
        frames.iter().flatten().for_each(|&number| put(&mut out, number));
    }
    out
}

/// The payload of a clock batch.
pub(crate) fn clock(version: u8, frequency: u64) -> Vec<u8> {
    let frequency = record(id::FREQUENCY, &[frequency]);
    if version < 25 {
        return frequency;
    }
    let snapshot = record(id::CLOCK_SNAPSHOT, &[5, 77, 1_700_000_000, 250_000_000]);
    [vec![id::SYNC], frequency, snapshot].concat()
}
