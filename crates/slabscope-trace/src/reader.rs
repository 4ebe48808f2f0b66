//! From the bytes of a trace to its events.
//!
//! A generation's batches are found and its tables taken in. Its plain events are put in order by
//! [`Merge`](crate::merge::Merge). From the first that is not plain, a heap of one cursor a thread
//! gives the earliest event, [`Order`] says whether it may come next, and if not, the other threads
//! are tried in the order of their times.

mod open;

pub use open::{Open, Resume};

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::error::{Error, ErrorKind};
use crate::event::{Event, Kind};
use crate::generation::{Generation, Sample};
use crate::id::{GoId, ProcId, ThreadId, Time};
use crate::merge::{Checked, Rest};
use crate::order::{Input, Order};
use crate::run::{ExperimentalRun, Feed, Run, later};
use crate::stack::Stack;
use crate::supply::{Opening, Supply};
use crate::sync::Sync;

/// Reads the events of a trace, in order.
///
/// It gives what Go's `internal/trace` gives: the same events in the same order at the same
/// times, with a [`Kind::Sync`] before each generation and at the end. Where that reader fails,
/// this one returns an error, after the events of all generations that were whole; after an error
/// there is nothing more.
///
/// As an iterator it gives one event at a time. [`Reader::next_run`] gives those of experiments by
/// the thousand, and [`Open::ahead`] has another thread read ahead: both are for large traces.
#[derive(Debug)]
pub struct Reader<'a> {
    version: u8,
    catalog: &'static Catalog,
    /// Where in the file the generation ends.
    offset: u64,
    supply: Supply<'a>,
    generation: Option<Arc<Generation<'a>>>,
    /// The generation's threads.
    threads: Vec<ThreadId>,
    feed: Feed,
    /// Whether more plain events of the generation come.
    is_plain: bool,
    /// Where the threads stand when no more do.
    rest: Rest,
    /// How many of the generation's samples were handed out.
    samples_done: usize,
    order: Order,
    last: Time,
    syncs: u64,
    end: End,
}

/// How far the end of the trace is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// Not seen.
    Ahead,
    /// An error comes next.
    Failed(Error),
    /// Nothing comes any more.
    Done,
}

impl<'a> Reader<'a> {
    /// The format version: 22, 23, 25 or 26.
    pub fn version(&self) -> u8 {
        self.version
    }

    /// How many bytes of the file were read so far, for showing progress: all of the generation
    /// whose events are being handed out.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// What comes next: one event, or many of experiments at once. `None` after the last event, or
    /// after an error.
    ///
    /// Together the runs have the events that the iterator gives, and the two can be mixed.
    #[inline]
    pub fn next_run(&mut self) -> Option<Result<Run<'_>, Error>> {
        if self.has_plain() {
            return self.plain_run().map(|run| Ok(Run::Experimental(run)));
        }
        self.next_other().map(|event| event.map(Run::Event))
    }

    /// Whether the next event is a plain one, which is in the feed then.
    #[inline]
    fn has_plain(&mut self) -> bool {
        loop {
            if let Some(head) = self.feed.head() {
                return !head.is_checked();
            }
            if !self.is_plain {
                return false;
            }
            self.feed.at = 0;
            if let Some(rest) = self.supply.fill(&mut self.feed.events) {
                self.rest = rest;
                self.is_plain = false;
            }
        }
    }

    /// The plain events in the feed.
    #[inline]
    fn plain_run(&mut self) -> Option<ExperimentalRun<'_>> {
        Some(ExperimentalRun {
            feed: &mut self.feed,
            generation: self.generation.as_ref()?.number,
            catalog: self.catalog,
            threads: &self.threads,
            order: &mut self.order,
            last: &mut self.last,
        })
    }

    /// The next event where it is not a plain one.
    fn next_other(&mut self) -> Option<Result<Event, Error>> {
        if self.end == End::Done {
            return None;
        }
        match self.read() {
            Ok(mut event) => {
                event.time = later(event.time, self.last);
                self.last = event.time;
                Some(Ok(event))
            }
            Err(error) => {
                self.end = End::Done;
                self.feed.clear();
                self.is_plain = false;
                Some(Err(error))
            }
        }
    }

    /// The same, its time not yet forced to be later than the last one's.
    fn read(&mut self) -> Result<Event, Error> {
        if let Some(event) = self.order.next() {
            return Ok(event);
        }
        if let Some((checked, lane)) = self.feed.take_checked() {
            return self.check(&checked, lane);
        }
        let sample = self.next_sample();
        if self.rest.frontier.is_empty() && sample.is_none() {
            return self.next_generation();
        }
        if let Some(sample) = sample
            && self.rest.frontier.time().is_none_or(|time| sample.time < time)
        {
            self.samples_done += 1;
            return Ok(self.sample_event(sample));
        }
        if let Some(event) = self.advance(0)? {
            return Ok(event);
        }
        // The earliest event waits for another thread's. This is rare.
        self.rest.frontier.sort();
        for place in 1..self.rest.frontier.len() {
            if let Some(event) = self.advance(place)? {
                return Ok(event);
            }
        }
        Err(self.error_at(0, ErrorKind::Stuck))
    }

    /// Lets an event come that has its place in the order.
    fn check(&mut self, checked: &Checked, lane: usize) -> Result<Event, Error> {
        let Checked { raw, offset } = checked;
        let thread = self.threads.get(lane).copied().unwrap_or(ThreadId::NONE);
        let number = self.generation.as_ref().map_or(0, |generation| generation.number);
        let error = |what| Error { offset: *offset, generation: number, what };
        let Some(generation) = &self.generation else {
            return Err(error(ErrorKind::Stuck(raw.id)));
        };
        let input =
            Input { raw, generation: number, tables: &generation.tables, catalog: self.catalog };
        self.order.advance(&input, thread, &mut None).map_err(error)?;
        // It never waits, so it is there.
        self.order.next().ok_or(error(ErrorKind::Stuck(raw.id)))
    }

    /// Tries to let the event of the cursor at `place` of the frontier come next; `None` when it
    /// must wait.
    fn advance(&mut self, place: usize) -> Result<Option<Event>, Error> {
        let generation = self.generation.as_ref();
        let index = self.rest.frontier.cursor(place);
        let (Some(generation), Some(index)) = (generation, index) else {
            return Ok(None);
        };
        let thread = generation.threads.get(index);
        let (Some(cursor), Some(thread)) = (self.rest.cursors.get_mut(index), thread) else {
            return Ok(None);
        };
        let mut state = cursor.state;
        let (raw, tables) = (&cursor.event, &generation.tables);
        let input = Input { raw, generation: generation.number, tables, catalog: self.catalog };
        let ordered = self.order.advance(&input, cursor.thread, &mut state);
        cursor.state = state;
        if ordered == Ok(false) {
            return Ok(None);
        }
        let moved = ordered.and_then(|_| cursor.advance(thread, generation.decoding));
        let more = moved.map_err(|what| Error {
            offset: cursor.offset(thread),
            generation: generation.number,
            what,
        })?;
        if more {
            self.rest.frontier.update(place, cursor.event.time);
        } else {
            self.rest.frontier.remove(place);
        }
        Ok(self.order.next())
    }

    /// An error about the event of the cursor at `place`.
    fn error_at(&self, place: usize, what: impl FnOnce(u8) -> ErrorKind) -> Error {
        let cursor = self.rest.frontier.cursor(place);
        let at = cursor.and_then(|index| {
            let generation = self.generation.as_ref()?;
            Some((generation, self.rest.cursors.get(index)?, generation.threads.get(index)?))
        });
        match at {
            Some((generation, cursor, thread)) => Error {
                offset: cursor.offset(thread),
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
        if let End::Failed(error) = self.end {
            return Err(error);
        }
        match self.supply.open() {
            Opening::Generation(generation) => Ok(self.begin(generation)),
            Opening::Unreadable(error) => Err(error),
            Opening::Broken(error) => {
                self.offset = error.offset;
                self.end = End::Failed(error);
                Ok(self.last_sync())
            }
            Opening::End(offset) => {
                self.offset = offset;
                self.end = End::Done;
                Ok(self.last_sync())
            }
        }
    }

    /// Begins a generation with its sync event.
    fn begin(&mut self, generation: Arc<Generation<'a>>) -> Event {
        self.samples_done = 0;
        self.threads.clear();
        self.threads.extend(generation.threads.iter().map(|thread| thread.thread));
        self.feed.clear();
        self.is_plain = true;
        self.offset = generation.end;
        self.syncs += 1;
        let sync = Sync {
            n: self.syncs,
            clock: generation.snapshot.map(|snapshot| snapshot.resolve(generation.decoding.clock)),
            experimental: Arc::clone(&generation.experimental),
            tables: Some(Arc::clone(&generation.tables)),
        };
        let time = generation.start;
        self.generation = Some(generation);
        sync_event(time, sync)
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
        if self.has_plain() {
            return self.plain_run()?.next().map(|event| Ok(event.into()));
        }
        self.next_other()
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
