//! The books of a part of a trace: all sums, as they are kept and as they are added up.
//!
//! Parts that follow each other can be put together: the books of the whole come out as if it had
//! been replayed at once.

use serde::{Deserialize, Serialize};
use slabscope_trace::Time;

use super::cell::{Cell, Key};
use super::height::Height;
use super::lifetimes::Lifetimes;
use super::spans::SpanTally;
use super::stacks::StackTally;
use super::timeline::Timeline;
use crate::fault::Faults;
use crate::report::Amount;
use crate::serde_time;
use crate::threads::Owner;

/// What is kept of each group of sites beside its cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SiteTrack {
    pub(super) live_bytes: u64,
    /// The most bytes of it that were live at once.
    pub(crate) max_bytes: u64,
    pub(crate) lifetimes: Lifetimes,
}

/// What one thread freed of what another, or itself, had allocated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pair {
    pub(crate) allocated_by: Owner,
    pub(crate) freed_by: Owner,
    pub(crate) freed: Amount,
}

/// An object that was freed soon, and was allocated before the part began: temporary in a longer
/// part, and not in this one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Early {
    #[serde(with = "serde_time")]
    pub(super) born: Time,
    pub(super) cell: u32,
    pub(super) bytes: u64,
}

/// The sums of a part of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Books {
    /// When the part began.
    #[serde(with = "serde_time")]
    pub(super) begun: Time,
    pub(crate) cells: Vec<Cell>,
    /// By the number of the group's first site.
    pub(crate) sites: Vec<SiteTrack>,
    pub(crate) pairs: Vec<Pair>,
    pub(super) early: Vec<Early>,
    pub(crate) timeline: Option<Timeline>,
    pub(crate) height: Height,
    pub(crate) vanished: Amount,
    /// Objects put into slots that others had.
    pub(crate) sharing: u64,
    pub(crate) spans: SpanTally,
    pub(crate) stacks: StackTally,
    pub(crate) faults: Faults,
}

impl Default for Books {
    fn default() -> Self {
        Books {
            begun: Time(i64::MIN),
            cells: Vec::new(),
            sites: Vec::new(),
            pairs: Vec::new(),
            early: Vec::new(),
            timeline: None,
            height: Height::default(),
            vanished: Amount::default(),
            sharing: 0,
            spans: SpanTally::default(),
            stacks: StackTally::default(),
            faults: Faults::default(),
        }
    }
}

impl Books {
    /// Empty books of the part that begins at `time`: what there is stays, what happened is
    /// forgotten. Cells, sites and pairs keep their numbers.
    pub(super) fn begin(&mut self, time: Time) {
        for cell in &mut self.cells {
            *cell = cell.begun();
        }
        for site in &mut self.sites {
            let live_bytes = site.live_bytes;
            *site =
                SiteTrack { live_bytes, max_bytes: live_bytes, lifetimes: Lifetimes::default() };
        }
        for pair in &mut self.pairs {
            pair.freed = Amount::default();
        }
        self.early.clear();
        self.timeline = self.timeline.as_ref().map(|line| line.begun(time, self.height.live));
        self.height = self.height.begun(time);
        (self.begun, self.vanished, self.sharing) = (time, Amount::default(), 0);
        self.spans.begin(time);
        self.stacks.begin(time);
        self.faults = Faults::default();
    }

    /// Takes in the books of the part that follows this one, kept by the same numbers.
    #[expect(dead_code, reason = "for the index beside a trace, to come")]
    pub(crate) fn append(&mut self, next: &Books) {
        let is_higher = next.height.peak.bytes > self.height.peak.bytes;
        let (peaks, next_peaks) = (self.height.peaks, next.height.peaks);
        let empty = |cell: &Cell| Cell::new(cell.key, cell.group, peaks);
        self.cells.extend(next.cells.iter().skip(self.cells.len()).map(empty));
        for (cell, more) in self.cells.iter_mut().zip(&next.cells) {
            cell.append(more, peaks, next_peaks, is_higher);
        }
        self.height.append(&next.height);
        self.append_tracks(next);
        for early in &next.early {
            match self.cells.get_mut(early.cell as usize).filter(|_| early.born >= self.begun) {
                Some(cell) => cell.temporary.add(early.bytes),
                None => self.early.push(*early),
            }
        }
        match (&mut self.timeline, &next.timeline) {
            (Some(line), Some(next)) => line.append(next),
            (line @ None, next) => line.clone_from(next),
            (Some(_), None) => {}
        }
        self.vanished.plus(next.vanished);
        self.sharing = self.sharing.saturating_add(next.sharing);
        self.spans.append(&next.spans);
        self.stacks.append(&next.stacks);
        self.faults.append(&next.faults);
    }

    fn append_tracks(&mut self, next: &Books) {
        let len = self.sites.len().max(next.sites.len());
        self.sites.resize(len, SiteTrack::default());
        for (site, more) in self.sites.iter_mut().zip(&next.sites) {
            site.live_bytes = more.live_bytes;
            site.max_bytes = site.max_bytes.max(more.max_bytes);
            site.lifetimes.append(&more.lifetimes);
        }
        let new = next.pairs.iter().skip(self.pairs.len());
        self.pairs.extend(new.map(|pair| Pair { freed: Amount::default(), ..*pair }));
        for (pair, more) in self.pairs.iter_mut().zip(&next.pairs) {
            pair.freed.plus(more.freed);
        }
    }

    /// The keys of all cells, by number.
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> {
        self.cells.iter().map(|cell| cell.key)
    }
}
