//! Who allocates, and who frees what whom had allocated.

use serde::Serialize;

use crate::profile::{By, Cell, Pair, Profile, ThreadLabel};
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
            sum.live.plus(cell.live());
            sum.at_peak.plus(self.at_peak(cell));
        };
        let mut sums = self.sums(|cell| cell.key.owner, |sum, _, cell| add(sum, cell));
        for pair in &self.books.pairs {
            sums.entry(pair.freed_by).or_default().freed.plus(pair.freed);
        }
        let mut rows: Vec<(Owner, ThreadFigures)> = sums.into_iter().collect();
        rows.retain(|(_, sum)| *sum != ThreadFigures::default());
        rows.sort_by_key(|&(owner, sum)| {
            let bytes = std::cmp::Reverse(sum.allocated.bytes);
            (owner == Owner::BEFORE, bytes, owner)
        });
        let row = |(owner, figures)| By { label: self.thread_label(owner), figures };
        let mut pairs: Vec<_> = self.books.pairs.iter().collect();
        pairs.retain(|pair| pair.freed.objects > 0);
        pairs.sort_by_key(|pair| {
            (std::cmp::Reverse(pair.freed.objects), pair.allocated_by, pair.freed_by)
        });
        let pair = |pair: &Pair| PairRow {
            allocated_by: self.thread_label(pair.allocated_by),
            freed_by: self.thread_label(pair.freed_by),
            freed: pair.freed,
        };
        ThreadsView {
            part: self.part,
            threads: rows.into_iter().map(row).collect(),
            pairs: pairs.into_iter().map(pair).collect(),
        }
    }
}
