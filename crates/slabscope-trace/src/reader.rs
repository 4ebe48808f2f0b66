//! From the bytes of a trace to its events.
//!
//! One generation is read ahead: its batches are found and its tables taken in. Then a heap of one
//! cursor a thread gives the earliest event, [`Order`] says whether it may come next, and if not,
//! the other threads are tried in the order of their times. Two generations are never in memory.

use std::sync::Arc;

use slabscope_wire::event::{ArgKind, TABLE};
use slabscope_wire::header;

use crate::batch::{Batch, Batches};
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind};
use crate::event::{Event, Kind};
use crate::frontier::Frontier;
use crate::generation::{Generation, Sample, Spilled};
use crate::id::{GoId, ProcId, ThreadId, Time};
use crate::order::{Input, Order};
use crate::stack::Stack;
use crate::sync::Sync;

/// Reads the events of a trace, in order.
///
/// It gives what Go's `internal/trace` gives: the same events in the same order at the same
/// times, with a [`Kind::Sync`] before each generation and at the end. Where that reader fails,
/// this one returns an error, after the events of all generations that were whole; after an error
/// there is nothing more.
#[derive(Debug)]
pub struct Reader<'a> {
    version: u8,
    batches: Batches<'a>,
    generation: Option<Generation<'a>>,
    /// One for each thread of the generation, in the order of [`Generation::threads`].
    cursors: Vec<Cursor>,
    frontier: Frontier,
    /// How many of the generation's samples were handed out.
    samples_done: usize,
    order: Order,
    last: Time,
    syncs: u64,
    /// The first batch of the next generation, in formats before 26.
    spill: Option<Batch<'a>>,
    end: End,
}

/// How far the end of the trace is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// Not seen.
    Ahead,
    /// An error comes after this generation and a sync event.
    Failing(Error),
    /// An error comes next.
    Failed(Error),
    /// Nothing comes any more.
    Done,
}

impl<'a> Reader<'a> {
    /// A reader of the trace that is `bytes`.
    ///
    /// # Errors
    /// When it does not begin as a trace of format version 1.22 to 1.26.
    pub fn new(bytes: &'a [u8]) -> Result<Reader<'a>, Error> {
        let version = header::parse(bytes).map_err(|error| Error {
            offset: 0,
            generation: 0,
            what: ErrorKind::Header(error),
        })?;
        Ok(Reader {
            version,
            batches: Batches::new(bytes, header::LEN),
            generation: None,
            cursors: Vec::new(),
            frontier: Frontier::default(),
            samples_done: 0,
            order: Order::default(),
            last: Time(0),
            syncs: 0,
            spill: None,
            end: End::Ahead,
        })
    }

    /// The format version: 22, 23, 25 or 26.
    pub fn version(&self) -> u8 {
        self.version
    }

    /// How many bytes of the file were read so far, for showing progress: all of the generation
    /// whose events are being handed out.
    pub fn offset(&self) -> u64 {
        self.batches.offset() as u64
    }

    /// The next event, its time not yet forced to be later than the last one's.
    #[inline]
    fn read(&mut self) -> Result<Event, Error> {
        if let Some(event) = self.order.next() {
            return Ok(event);
        }
        if self.frontier.is_empty() && self.next_sample().is_none() {
            return self.next_generation();
        }
        if let Some(sample) = self.next_sample()
            && self.frontier.time().is_none_or(|time| sample.time < time)
        {
            self.samples_done += 1;
            return Ok(self.sample_event(sample));
        }
        if let Some(event) = self.advance(0)? {
            return Ok(event);
        }
        // The earliest event waits for another thread's. This is rare.
        self.frontier.sort();
        for place in 1..self.frontier.len() {
            if let Some(event) = self.advance(place)? {
                return Ok(event);
            }
        }
        Err(self.error_at(0, ErrorKind::Stuck))
    }

    /// Tries to let the event of the cursor at `place` of the frontier come next; `None` when it
    /// must wait.
    #[inline]
    fn advance(&mut self, place: usize) -> Result<Option<Event>, Error> {
        let generation = self.generation.as_ref();
        let index = self.frontier.cursor(place);
        let (Some(generation), Some(index)) = (generation, index) else {
            return Ok(None);
        };
        let thread = generation.threads.get(index);
        let (Some(cursor), Some(thread)) = (self.cursors.get_mut(index), thread) else {
            return Ok(None);
        };
        let batches = thread.batches.as_slice();
        let mut state = cursor.state;
        let ordered = if IS_PLAIN[usize::from(cursor.event.id)] {
            let order = &mut self.order;
            order
                .experimental(&cursor.event, generation.number, cursor.thread, &mut state)
                .map(Some)
        } else {
            let (raw, tables) = (&cursor.event, &generation.tables);
            let input = Input { raw, generation: generation.number, tables };
            match self.order.advance(&input, cursor.thread, &mut state) {
                Ok(true) => Ok(None),
                Ok(false) => {
                    cursor.state = state;
                    return Ok(None);
                }
                Err(what) => Err(what),
            }
        };
        cursor.state = state;
        let moved =
            ordered.and_then(|event| Ok((event, cursor.advance(batches, generation.clock)?)));
        let (event, more) = moved.map_err(|what| Error {
            offset: cursor.offset(batches) as u64,
            generation: generation.number,
            what,
        })?;
        if more {
            self.frontier.update(place, cursor.event.time);
        } else {
            self.frontier.remove(place);
        }
        match event {
            Some(event) => Ok(Some(event)),
            None => Ok(self.order.next()),
        }
    }

    /// An error about the event of the cursor at `place`.
    fn error_at(&self, place: usize, what: impl FnOnce(u8) -> ErrorKind) -> Error {
        let cursor = self.frontier.cursor(place);
        let at = cursor.and_then(|index| {
            let generation = self.generation.as_ref()?;
            Some((generation, self.cursors.get(index)?, generation.threads.get(index)?))
        });
        match at {
            Some((generation, cursor, thread)) => Error {
                offset: cursor.offset(&thread.batches) as u64,
                generation: generation.number,
                what: what(cursor.event.id),
            },
            None => Error { offset: self.offset(), generation: 0, what: what(0) },
        }
    }

    fn next_sample(&self) -> Option<Sample> {
        self.generation.as_ref()?.samples.get(self.samples_done).copied()
    }

    fn sample_event(&self, sample: Sample) -> Event {
        let tables = self.generation.as_ref().map(|generation| &generation.tables);
        let tables = tables.filter(|tables| sample.stack != 0 && tables.has_stack(sample.stack));
        Event {
            time: sample.time,
            thread: sample.thread,
            proc: sample.proc,
            goroutine: sample.goroutine,
            stack: tables.map(|tables| Stack::new(Arc::clone(tables), sample.stack)),
            kind: Kind::StackSample,
        }
    }

    /// Goes on to the next generation; the event is the sync event before it, or the last one.
    fn next_generation(&mut self) -> Result<Event, Error> {
        match self.end {
            End::Failed(error) => return Err(error),
            End::Failing(error) => {
                self.end = End::Failed(error);
                return Ok(self.last_sync());
            }
            End::Ahead | End::Done => {}
        }
        let read = if self.version >= 26 {
            Generation::read(&mut self.batches, self.version)
        } else if self.generation.is_some() && self.spill.is_none() {
            Ok(None)
        } else {
            self.read_spilling().map(Some)
        };
        match read {
            Ok(Some(generation)) => self.install(generation),
            Ok(None) => {
                self.end = End::Done;
                Ok(self.last_sync())
            }
            Err(error) => {
                self.end = End::Failed(error);
                Ok(self.last_sync())
            }
        }
    }

    fn read_spilling(&mut self) -> Result<Generation<'a>, Error> {
        let first = self.spill.take();
        let Spilled { generation, next, error } =
            Generation::read_spilling(&mut self.batches, first, self.version)?;
        self.spill = next;
        if let Some(error) = error {
            self.end = End::Failing(error);
        }
        Ok(generation)
    }

    /// Puts a cursor before each thread's events, and makes the sync event.
    fn install(&mut self, generation: Generation<'a>) -> Result<Event, Error> {
        self.samples_done = 0;
        self.cursors.clear();
        self.frontier.clear();
        for (index, thread) in generation.threads.iter().enumerate() {
            let mut cursor = Cursor::new(thread.thread);
            let more = cursor.advance(&thread.batches, generation.clock).map_err(|what| Error {
                offset: cursor.offset(&thread.batches) as u64,
                generation: generation.number,
                what,
            })?;
            if more {
                self.frontier.insert(cursor.event.time, index);
            }
            self.cursors.push(cursor);
        }
        self.syncs += 1;
        let sync = Sync {
            n: self.syncs,
            clock: generation.snapshot.map(|snapshot| snapshot.resolve(generation.clock)),
            experimental: Arc::clone(&generation.experimental),
            tables: Some(Arc::clone(&generation.tables)),
        };
        let time = generation.start;
        self.generation = Some(generation);
        Ok(sync_event(time, sync))
    }

    /// The sync event at the end of the trace, or before an error.
    fn last_sync(&mut self) -> Event {
        self.generation = None;
        self.syncs += 1;
        let sync = Sync { n: self.syncs, clock: None, experimental: Arc::default(), tables: None };
        sync_event(self.last, sync)
    }
}

impl Iterator for Reader<'_> {
    type Item = Result<Event, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.end == End::Done {
            return None;
        }
        match self.read() {
            Ok(mut event) => {
                // Whatever the clocks say, time goes on.
                if event.time <= self.last {
                    event.time = Time(self.last.0.wrapping_add(1));
                }
                self.last = event.time;
                Some(Ok(event))
            }
            Err(error) => {
                self.end = End::Done;
                Some(Err(error))
            }
        }
    }
}

fn sync_event(time: Time, sync: Sync) -> Event {
    Event {
        time,
        thread: ThreadId::NONE,
        proc: ProcId::NONE,
        goroutine: GoId::NONE,
        stack: None,
        kind: Kind::Sync(Box::new(sync)),
    }
}

/// By number, whether an event is an experimental one that names no string and no stack: it has
/// nothing to be checked against.
static IS_PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut row = 0;
    while row < TABLE.len() {
        let spec = &TABLE[row];
        let mut is_plain = spec.is_experimental();
        let mut arg = 0;
        while arg < spec.args.len() {
            is_plain &= matches!(spec.args[arg].kind, ArgKind::Number);
            arg += 1;
        }
        plain[spec.id as usize] = is_plain;
        row += 1;
    }
    plain
};
