//! Whether a trace holds together.

use serde::Serialize;

use crate::fault::FaultRow;
use crate::report::{Completeness, CountRow, End, ReadError, Report, SideProblem, State};

/// What was found wrong with a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verification {
    /// What is wrong; nothing if the trace is sound.
    pub findings: Vec<Finding>,
    /// How many events of the heap were checked.
    pub heap_events: u64,
    /// Whether the trace says how many events there should be; only ours do.
    pub has_counts: bool,
}

/// One thing that is wrong with a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "finding", rename_all = "snake_case")]
pub enum Finding {
    /// The file could not be read to its end.
    Broken(ReadError),
    /// There is nothing behind the header.
    Empty,
    /// The trace has no closing counts and ought to.
    NoClosingCounts,
    /// Tracing ended because the file could take no more.
    WriteFailed,
    /// Events happened that are not in the file, by its own account.
    Lost(CountRow),
    /// The file does not have as many events as its counts say.
    Miscounted(CountRow),
    /// The closing counts do not cover all kinds of events.
    CountsMissing {
        /// How many kinds they cover.
        kinds: u64,
    },
    /// Events contradict those before them.
    Fault(FaultRow),
    /// Objects were allocated at sites the trace does not have.
    UnknownSites {
        /// How many objects.
        objects: u64,
    },
    /// Side data could not be read.
    SideData(SideProblem),
    /// More side data could not be read.
    MoreSideData {
        /// How many further problems there are.
        count: u64,
    },
}

impl Verification {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }
}

impl Report {
    /// Whether the trace holds together: read to its end, complete by its own counts, and each
    /// event possible after those before it.
    pub fn verify(&self) -> Verification {
        let mut findings = Vec::new();
        findings.extend(self.error.clone().map(Finding::Broken));
        if self.tracing.generations == 0 && self.error.is_none() {
            findings.push(Finding::Empty);
        }
        let Completeness { state, end, counts } = &self.completeness;
        if *state == State::CutOff {
            findings.push(Finding::NoClosingCounts);
        }
        if *end == Some(End::WriteFailed) {
            findings.push(Finding::WriteFailed);
        }
        if end.is_some() && counts.len() != self.events.heap.len() {
            findings.push(Finding::CountsMissing { kinds: counts.len() as u64 });
        }
        for &row in counts {
            if row.lost > 0 {
                findings.push(Finding::Lost(row));
            }
            if !row.adds_up() {
                findings.push(Finding::Miscounted(row));
            }
        }
        findings.extend(self.faults.iter().cloned().map(Finding::Fault));
        if self.unknown_sites > 0 {
            findings.push(Finding::UnknownSites { objects: self.unknown_sites });
        }
        findings.extend(self.side_problems.iter().cloned().map(Finding::SideData));
        let further = self.side_problem_count - self.side_problems.len() as u64;
        if further > 0 {
            findings.push(Finding::MoreSideData { count: further });
        }
        Verification { findings, heap_events: self.events.heap_total(), has_counts: end.is_some() }
    }
}
