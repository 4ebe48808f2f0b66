//! Where a replay stands between two generations, apart from its heap and books.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use slabscope_trace::alloc_free::{Closing, Info};
use slabscope_trace::{ClockSnapshot, Time, WallTime};
use slabscope_wire::alloc_free::EndReason;

use crate::events::Tally;
use crate::moment::Clock;
use crate::profile::{COUNT_END, Ledger};
use crate::replay::{KINDS, Replay};
use crate::report::SideProblem;
use crate::side_data::SideData;
use crate::threads::Thread;

/// Where a replay stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Standing {
    /// The trace's start.
    start: Option<i64>,
    /// Times of the trace, of the monotonic clock, and since 1970: seconds and nanoseconds.
    snapshot: Option<(i64, u64, i64, u32)>,
    /// Number, name, start, end.
    threads: Vec<(i64, String, Option<i64>, Option<i64>)>,
    side: Side,
    pub(super) counts: [u64; KINDS],
    pub(super) other: u64,
    pub(super) generations: u64,
    pub(super) unknown_sites: u64,
    last: Option<i64>,
    /// How many objects each thread has allocated or freed.
    pub(super) thread_events: Vec<u32>,
    /// How many sites, levels of stacks, places, modules, cells and pairs of threads were met.
    pub(super) met: [usize; 6],
}

/// See [`SideData`].
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Side {
    build: BTreeMap<String, String>,
    closing: Option<KeptClosing>,
    problems: Vec<SideProblem>,
    problem_count: u64,
    info: Option<[u64; 4]>,
    is_ours: bool,
}

/// See [`Closing`].
#[derive(Clone, Debug, Serialize, Deserialize)]
struct KeptClosing {
    reason: Option<u8>,
    kinds: Vec<(u64, u64, u64)>,
    cpus: Vec<(u64, u64)>,
}

impl Standing {
    /// Where `replay` stands.
    pub(super) fn of(replay: &Replay<Ledger>) -> Standing {
        let (start, snapshot) = replay.clock.parts();
        let time = |time: Option<Time>| time.map(|time| time.0);
        let thread = |thread: &Thread| {
            (thread.id, thread.name.clone(), time(thread.start), time(thread.end))
        };
        let (sites, books) = (&replay.sites, &replay.lens.books);
        let stacks = sites.stacks();
        Standing {
            start: time(start),
            snapshot: snapshot.map(|snapshot| {
                let WallTime { seconds, nanos } = snapshot.wall;
                (snapshot.trace.0, snapshot.mono, seconds, nanos)
            }),
            threads: replay.threads.all().iter().map(thread).collect(),
            side: Side::of(&replay.side),
            counts: replay.counts,
            other: replay.other,
            generations: replay.generations,
            unknown_sites: replay.sites.unknown,
            last: time(replay.last),
            thread_events: replay.lens.thread_events().to_vec(),
            met: [
                sites.all().len(),
                stacks.nodes().len(),
                stacks.all_places().len(),
                stacks.modules().len(),
                books.cells.len(),
                books.pairs.len(),
            ],
        }
    }

    /// Whether a trace can have led there, so that counting can go on.
    pub(super) fn is_possible(&self) -> bool {
        let Standing { counts, other, generations, unknown_sites, .. } = self;
        let apart = [*other, *generations, *unknown_sites, self.side.problem_count];
        let events = counts.iter().fold(0, |sum: u64, &count| sum.saturating_add(count));
        events < COUNT_END && apart.iter().all(|&count| count < COUNT_END)
    }

    /// Whether it comes after a place where so many events had been counted, of each kind and others.
    pub(super) fn comes_after(&self, (counts, other): &([u64; KINDS], u64)) -> bool {
        counts.iter().zip(&self.counts).all(|(before, now)| before <= now) && *other <= self.other
    }

    /// How many cells were met.
    pub(super) fn cells(&self) -> usize {
        let [.., cells, _] = self.met;
        cells
    }

    /// How many pairs of threads were met.
    pub(super) fn pairs(&self) -> usize {
        let [.., pairs] = self.met;
        pairs
    }

    pub(super) fn tally(&self) -> Tally {
        let Standing { counts, generations, .. } = *self;
        Tally { counts, generations, side: self.side() }
    }

    pub(super) fn clock(&self) -> Clock {
        let mut clock = Clock::default();
        if let Some(start) = self.start {
            let snapshot = self.snapshot.map(|(trace, mono, seconds, nanos)| ClockSnapshot {
                trace: Time(trace),
                mono,
                wall: WallTime { seconds, nanos },
            });
            clock.sync(Time(start), snapshot);
        }
        clock
    }

    pub(super) fn threads(&self) -> Vec<Thread> {
        let threads = self.threads.iter().cloned();
        let time = |time: Option<i64>| time.map(Time);
        let thread =
            |(id, name, start, end)| Thread { id, name, start: time(start), end: time(end) };
        threads.map(thread).collect()
    }

    pub(super) fn last(&self) -> Option<Time> {
        self.last.map(Time)
    }

    pub(super) fn side(&self) -> SideData {
        let Side { build, closing, problems, problem_count, info, is_ours } = self.side.clone();
        SideData {
            build,
            closing: closing.map(|closing| Closing {
                reason: closing.reason.and_then(|reason| EndReason::new(u64::from(reason))),
                kinds: closing.kinds,
                cpus: closing.cpus,
            }),
            // The rest is counted only.
            problem_count: problem_count.max(problems.len() as u64),
            problems,
            info: info.map(|[min_heap_address, page_size, min_heap_align, min_stack_align]| Info {
                min_heap_address,
                page_size,
                min_heap_align,
                min_stack_align,
            }),
            is_ours,
        }
    }
}

impl Side {
    fn of(side: &SideData) -> Side {
        let SideData { build, closing, problems, problem_count, info, is_ours } = side.clone();
        Side {
            build,
            closing: closing.map(|closing| KeptClosing {
                reason: closing.reason.map(|reason| reason as u8),
                kinds: closing.kinds,
                cpus: closing.cpus,
            }),
            problems,
            problem_count,
            info: info.map(|info| {
                let Info { min_heap_address, page_size, min_heap_align, min_stack_align } = info;
                [min_heap_address, page_size, min_heap_align, min_stack_align]
            }),
            is_ours,
        }
    }
}

#[cfg(test)]
impl Standing {
    /// As if so much were wrong with the side data.
    pub(super) fn have_problems(&mut self, count: u64) {
        self.side.problem_count = count;
    }
}
