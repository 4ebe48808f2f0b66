//! What a replay comes to.

use slabscope_trace::Error;

use super::failure::read_error;
use super::kinds::{KINDS, named};
use super::{Lens, Replay};
use crate::error::AnalyzeError;
use crate::heap::Heap;
use crate::moment::Clock;
use crate::report::{Completeness, EventCount, Origin, ReadError, Tracing};
use crate::side_data::SideData;
use crate::sites::Sites;
use crate::threads::Threads;
use crate::window::{Limits, Part};

/// A trace that was replayed.
#[derive(Debug)]
pub(crate) struct Replayed<L: Lens> {
    pub(crate) lens: L,
    pub(crate) heap: Heap<L::Tag>,
    pub(crate) clock: Clock,
    pub(crate) threads: Threads,
    pub(crate) sites: Sites,
    pub(crate) side: SideData,
    /// Events of the heap in the part, by kind.
    pub(crate) counts: Vec<EventCount>,
    /// Other events in the part.
    pub(crate) other: u64,
    pub(crate) generations: u64,
    pub(crate) unknown_sites: u64,
    pub(crate) part: Part,
    pub(crate) completeness: Completeness,
    pub(crate) format: u8,
    pub(crate) error: Option<ReadError>,
}

impl<L: Lens> Replay<L> {
    /// Ends the replay of a trace of this format, which `error` broke off.
    pub(crate) fn finish(
        self,
        format: u8,
        error: Option<Error>,
    ) -> Result<Replayed<L>, AnalyzeError> {
        if let (Some(error), false) = (error, self.has_begun) {
            return Err(AnalyzeError::Trace(error));
        }
        self.finish_as(format, error.map(read_error))
    }

    /// The same for an error that was told already.
    pub(crate) fn finish_as(
        self,
        format: u8,
        error: Option<ReadError>,
    ) -> Result<Replayed<L>, AnalyzeError> {
        let start = self.clock.start();
        let end = self.last.map_or(start, |last| self.clock.moment(last));
        let limits = self.limits.unwrap_or(Limits { from: None, to: None });
        if !self.has_begun && limits.from.is_some() {
            return Err(AnalyzeError::BehindEnd { end });
        }
        let part = Part {
            from: limits.from.map_or(start, |from| self.clock.moment(from)),
            to: limits.to.filter(|_| self.is_over).map_or(end, |to| self.clock.moment(to)),
            has_before: limits.from.is_some(),
            has_after: self.is_over,
        };
        let is_ours = self.side.is_ours();
        let completeness = match self.is_over {
            true => Completeness::NOT_READ,
            false => judge(&self.side, self.counts, error.is_some()),
        };
        let (before, other_before) = self.before;
        let counts = std::array::from_fn(|kind| self.counts[kind] - before[kind]);
        // Other writers' traces need not have names for their types.
        let unknown_sites = if is_ours { self.sites.unknown } else { 0 };
        Ok(Replayed {
            lens: self.lens,
            heap: self.heap,
            clock: self.clock,
            threads: self.threads,
            unknown_sites,
            sites: self.sites,
            side: self.side,
            counts: named(counts),
            other: self.other - other_before,
            generations: self.generations,
            part,
            completeness,
            format,
            error,
        })
    }
}

/// Judges a trace that was read to its end, or to where it is broken.
pub(crate) fn judge(side: &SideData, counts: [u64; KINDS], is_broken: bool) -> Completeness {
    Completeness::new(side.closing.as_ref(), &named(counts), side.is_ours(), is_broken)
}

impl<L: Lens> Replayed<L> {
    /// How the trace was made.
    pub(crate) fn tracing(&self) -> Tracing {
        Tracing {
            origin: if self.side.is_ours() { Origin::Slabscope } else { Origin::Go },
            format: self.format,
            generations: self.generations,
            start: self.clock.start(),
            duration_ns: self.part.to.since_start_ns,
            build: self.side.build.clone(),
        }
    }
}
