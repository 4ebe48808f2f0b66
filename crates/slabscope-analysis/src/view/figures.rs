//! What all objects of several sites did, summed up.

use std::collections::HashSet;

use foldhash::fast::RandomState;
use serde::Serialize;

use crate::profile::{Cell, Lifetime, Lifetimes, Profile};
use crate::report::Amount;
use crate::sites::SiteId;

/// What the objects of several sites did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Places that allocate them: different stacks.
    pub sites: u64,
    /// Those there as the part began.
    pub existed: Amount,
    /// Those allocated.
    pub allocated: Amount,
    /// Those freed soon, by the thread that allocated them.
    pub temporary: Amount,
    /// Those live when the whole heap was at its peak.
    pub at_peak: Amount,
    /// Those live at the end.
    pub live: Amount,
    /// Bytes of the slots of those allocated that nobody asked for.
    pub slack_bytes: u64,
    /// How long those freed had lived; `None` where none was.
    pub lifetime: Option<Lifetime>,
}

/// Figures while they are summed up.
#[derive(Default)]
pub(super) struct Sum {
    figures: Figures,
    groups: HashSet<SiteId, RandomState>,
    lifetimes: Lifetimes,
}

impl Sum {
    pub(super) fn add(&mut self, profile: &Profile, cell: &Cell) {
        let figures = &mut self.figures;
        figures.existed.plus(cell.existed);
        figures.allocated.plus(cell.allocated);
        figures.temporary.plus(cell.temporary);
        figures.at_peak.plus(profile.at_peak(cell));
        figures.live.plus(cell.live());
        figures.slack_bytes = figures.slack_bytes.saturating_add(profile.slack(cell));
        let SiteId(number) = cell.group;
        if self.groups.insert(cell.group)
            && let Some(track) = profile.books.sites.get(number as usize)
        {
            self.lifetimes.append(&track.lifetimes);
        }
    }

    pub(super) fn figures(self) -> Figures {
        let (sites, lifetime) = (self.groups.len() as u64, self.lifetimes.summary());
        Figures { sites, lifetime, ..self.figures }
    }
}

impl Figures {
    /// What rows are ordered by.
    pub(super) fn weight(&self) -> u64 {
        self.existed.bytes.saturating_add(self.allocated.bytes)
    }
}

impl Profile {
    /// Bytes of a cell's slots that nobody asked for.
    pub(super) fn slack(&self, cell: &Cell) -> u64 {
        let size = self.sites.get(cell.key.site).size;
        let asked = size.map(|size| size.saturating_mul(cell.allocated.objects));
        asked.map_or(0, |asked| cell.allocated.bytes.saturating_sub(asked))
    }
}
