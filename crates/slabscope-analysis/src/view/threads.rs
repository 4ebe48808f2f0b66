//! Who allocates, and who frees what whom had allocated.

use serde::Serialize;

use crate::profile::{By, Cell, Profile, ThreadLabel};
use crate::report::Amount;
use crate::threads::Owner;
use crate::window::Part;

/// The threads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThreadsView {
    /// Which part of the trace this is about.
    pub part: Part,
    /// What each allocated, most bytes first; the last row may be what existed before the trace.
    pub threads: Vec<By<ThreadLabel, ThreadFigures>>,
    /// What was freed, by who had allocated it and who freed it, most objects first.
    pub pairs: Vec<PairRow>,
}

/// What the objects a thread allocated did, and what it freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ThreadFigures {
    /// Objects it allocated.
    pub allocated: Amount,
    /// Those of its objects that it freed itself soon.
    pub temporary: Amount,
    /// Those of its objects that are live at the end.
    pub live: Amount,
    /// Those of its objects that were live at the peak.
    pub at_peak: Amount,
    /// Objects it freed, whoever had allocated them.
    pub freed: Amount,
}

/// What one thread freed of what one had allocated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PairRow {
    /// Who had allocated.
    pub allocated_by: ThreadLabel,
    /// Who freed.
    pub freed_by: ThreadLabel,
    /// What.
    pub freed: Amount,
}

impl Profile {
    /// The threads.
    pub fn threads(&self) -> ThreadsView {
        let add = |sum: &mut ThreadFigures, cell: &Cell| {
            sum.allocated.plus(cell.allocated);
            sum.temporary.plus(cell.temporary);
            sum.live.plus(cell.live);
            sum.at_peak.plus(self.at_peak(cell));
        };
        let mut sums = self.sums(|cell| cell.key.owner, |sum, _, cell| add(sum, cell));
        for (&(_, by), freed) in &self.pairs {
            sums.entry(by).or_default().freed.plus(*freed);
        }
        let mut rows: Vec<(Owner, ThreadFigures)> = sums.into_iter().collect();
        rows.retain(|(_, sum)| *sum != ThreadFigures::default());
        rows.sort_by_key(|&(owner, sum)| {
            let bytes = std::cmp::Reverse(sum.allocated.bytes);
            (owner == Owner::BEFORE, bytes, owner)
        });
        let row = |(owner, figures)| By { label: self.thread_label(owner), figures };
        let mut pairs: Vec<_> = self.pairs.iter().collect();
        pairs.sort_by_key(|(pair, freed)| (std::cmp::Reverse(freed.objects), **pair));
        let pair = |(&(owner, by), &freed): (&(Owner, Owner), &Amount)| PairRow {
            allocated_by: self.thread_label(owner),
            freed_by: self.thread_label(by),
            freed,
        };
        ThreadsView {
            part: self.part,
            threads: rows.into_iter().map(row).collect(),
            pairs: pairs.into_iter().map(pair).collect(),
        }
    }
}
