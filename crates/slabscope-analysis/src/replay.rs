//! From the bytes of a trace to its report, in one pass.

use slabscope_trace::alloc_free::{AllocFree, GenerationData};
use slabscope_trace::{Error, ErrorKind, Event, ExperimentalEvent, Kind, Reader, Sync};
use slabscope_wire::event::{self, id};

use crate::heap::{Heap, Object, Units};
use crate::report::{Completeness, EventCount, Events, Origin, ReadError, Report, Tracing};
use crate::side_data::SideData;
use crate::tally::{Now, Tally};

/// How many kinds of events there are of the heap.
const KINDS: usize = (id::GOROUTINE_STACK_FREE - id::SPAN) as usize + 1;

/// How many events pass between two calls of the progress function.
const PROGRESS_EVENTS: u64 = 1 << 16;

/// Replays the trace that is `bytes`.
///
/// `progress` is told now and then how many bytes were read. A trace that breaks off or is broken
/// further on gets the report of what was read before; [`Report::error`] says where that ended.
///
/// # Errors
/// When the bytes do not begin as a trace that can be read.
pub fn analyze(bytes: &[u8], progress: &mut dyn FnMut(u64)) -> Result<Report, Error> {
    let mut reader = Reader::new(bytes)?;
    // Side data say if it is not Go's.
    let mut replay = Replay { heap: Heap::new(Units::default(), true), ..Replay::default() };
    let mut error = None;
    let mut until_progress = PROGRESS_EVENTS;
    while let Some(read) = reader.next() {
        match read {
            Ok(event) => replay.event(&event),
            Err(found) => error = Some(found),
        }
        until_progress -= 1;
        if until_progress == 0 {
            until_progress = PROGRESS_EVENTS;
            progress(reader.offset());
        }
    }
    progress(bytes.len() as u64);
    Ok(replay.into_report(reader.version(), error))
}

/// A replay under way.
#[derive(Debug, Default)]
struct Replay {
    heap: Heap,
    tally: Tally,
    side: SideData,
    counts: [u64; KINDS],
    other: u64,
    generations: u64,
    /// A generation may have begun, or the trace ended: the next event tells.
    is_pending: bool,
    unknown_sites: u64,
    last: Option<slabscope_trace::Time>,
}

impl Replay {
    #[inline]
    fn event(&mut self, event: &Event) {
        if let Kind::Sync(sync) = &event.kind {
            return self.sync(event, sync);
        }
        if self.is_pending {
            self.is_pending = false;
            self.generations += 1;
        }
        self.last = Some(event.time);
        match &event.kind {
            Kind::Experimental(experimental) => self.experimental(event, experimental),
            _ => self.other += 1,
        }
    }

    /// Each generation begins with one of these, and one more comes at the end of the trace: it has
    /// no clock and no side data. In formats before Go 1.25 no generation has a clock, and only
    /// what follows tells.
    #[cold]
    fn sync(&mut self, event: &Event, sync: &Sync) {
        self.tally.clock.sync(event.time, sync.clock);
        let has_begun = sync.clock.is_some() || !sync.experimental.batches.is_empty();
        self.is_pending = !has_begun;
        if !has_begun {
            return;
        }
        self.generations += 1;
        let data = GenerationData::parse(&sync.experimental);
        let threads = self.side.take(self.generations, data);
        self.tally.threads.learn(threads);
        if self.last.is_none() {
            self.heap = Heap::new(self.side.units(), !self.side.is_ours());
        }
    }

    #[inline]
    fn experimental(&mut self, event: &Event, experimental: &ExperimentalEvent) {
        let Some(what) = AllocFree::from_event(experimental) else {
            self.other += 1;
            return;
        };
        // Only the nine events come out of `from_event`.
        self.counts[usize::from(experimental.id - id::SPAN)] += 1;
        let owner = self.tally.threads.at(event.thread, event.time);
        let requested = match what {
            AllocFree::HeapObjectAlloc { ty, .. } if ty != 0 && self.side.is_ours() => {
                let requested = self.side.requested(ty);
                self.unknown_sites += u64::from(requested.is_none());
                requested
            }
            _ => None,
        };
        self.tally.now = Now {
            time: event.time,
            thread: event.thread.0,
            owner,
            event: EVENT_NAMES[usize::from(experimental.id - id::SPAN)],
        };
        let object = Object { requested: requested.unwrap_or(Object::UNKNOWN), owner };
        self.heap.apply(what, object, &mut self.tally);
    }

    fn into_report(self, format: u8, error: Option<Error>) -> Report {
        let heap = EVENT_NAMES.into_iter().zip(self.counts);
        let heap: Vec<_> = heap.map(|(event, count)| EventCount { event, count }).collect();
        let (is_ours, is_broken) = (self.side.is_ours(), error.is_some());
        let completeness = Completeness::new(self.side.closing.as_ref(), &heap, is_ours, is_broken);
        let (tally, units) = (self.tally, self.side.units());
        let start = tally.clock.start();
        let end = self.last.map_or(start, |last| tally.clock.moment(last));
        let (peak_time, peak_pages) = tally.spans.peak();
        let peak_at = tally.moment_of_peak(peak_time, peak_pages);
        Report {
            tracing: Tracing {
                origin: if is_ours { Origin::Slabscope } else { Origin::Go },
                format,
                generations: self.generations,
                start,
                duration_ns: end.since_start_ns,
                build: self.side.build,
            },
            completeness,
            events: Events { heap, other: self.other },
            objects: tally.objects(),
            stacks: tally.stacks(),
            classes: tally.classes.into_rows(),
            threads: tally.threads.into_rows(&tally.clock),
            spans: tally.spans.into_report(&self.heap, &units, peak_at),
            faults: tally.faults.into_rows(),
            side_problems: self.side.problems,
            side_problem_count: self.side.problem_count,
            unknown_sites: self.unknown_sites,
            error: error.map(read_error),
        }
    }
}

fn read_error(error: Error) -> ReadError {
    ReadError {
        offset: error.offset,
        generation: error.generation,
        what: error.what.to_string(),
        is_cut_off: matches!(
            error.what,
            ErrorKind::BatchHeader(slabscope_wire::varint::VarintError::Truncated)
                | ErrorKind::BatchCutOff { .. }
                | ErrorKind::GenerationCutOff
        ),
    }
}

/// The names of the nine events, in the order of their numbers.
const EVENT_NAMES: [&str; KINDS] = {
    let mut names = [""; KINDS];
    let mut kind = 0;
    while kind < KINDS {
        if let Some(spec) = event::spec(id::SPAN + kind as u8) {
            names[kind] = spec.name;
        }
        kind += 1;
    }
    names
};
