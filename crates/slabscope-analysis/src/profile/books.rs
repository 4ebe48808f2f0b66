//! The books of a part of a trace: all sums, as they are kept and as they are added up.
//!
//! Parts that follow each other can be put together, see [`super::delta`]: the books of the whole come
//! out as if it had been replayed at once.

use serde::{Deserialize, Serialize};
use slabscope_trace::Time;

use super::cell::{Cell, Key};
use super::delta::Keys;
use super::height::Height;
use super::lifetimes::Lifetimes;
use super::spans::SpanTally;
use super::stacks::StackTally;
use super::tag::Tag;
use super::timeline::Timeline;
use crate::fault::Faults;
use crate::heap::Heap;
use crate::report::{Amount, Extent, StackAmount};
use crate::serde_time;
use crate::threads::Owner;

/// Counts from an index are below it: neither a trace that is read on nor their sums lead beyond 64 bits.
pub(crate) const COUNT_END: u64 = 1 << 60;

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
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Books {
    /// When the part began.
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
    /// Books as a part may begin with them anywhere, made of what the heap has: nothing has happened.
    pub(crate) fn there(heap: &Heap<Tag>, cells: Vec<Cell>) -> Option<Books> {
        // The group of each cell has a track.
        let tracks = cells.iter().map(|cell| cell.group.0 as usize + 1).max().unwrap_or(0);
        let sites = vec![SiteTrack::default(); tracks];
        let mut books = Books { cells, sites, ..Books::default() };
        let mut spans = Extent::default();
        for view in heap.spans() {
            spans.add(view.span.pages);
            view.objects().try_for_each(|(_, tag)| books.exists(tag, view.span.slot_bytes))?;
        }
        heap.strays().try_for_each(|tag| books.exists(tag, 0))?;
        books.spans = SpanTally::there(spans);
        let mut stacks = StackAmount::default();
        heap.stacks().for_each(|(_, bytes)| stacks.add(bytes));
        books.stacks = StackTally::there(stacks);
        Some(books)
    }

    fn exists(&mut self, tag: Tag, bytes: u64) -> Option<()> {
        let cell = self.cells.get_mut(tag.cell())?;
        cell.existed.add(bytes);
        self.height.live.add(bytes);
        let group = cell.group.0 as usize;
        self.sites.resize(self.sites.len().max(group + 1), SiteTrack::default());
        let live = &mut self.sites.get_mut(group)?.live_bytes;
        *live = live.saturating_add(bytes);
        Some(())
    }

    /// Empty books of the part that begins at `time`: what there is stays, what happened is
    /// forgotten. Cells, sites and pairs keep their numbers.
    pub(crate) fn begin(&mut self, time: Time) {
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

    /// Whether a trace can have led there, so that counting can go on.
    pub(crate) fn is_possible(&self) -> bool {
        let objects = |cell: &Cell| {
            let Cell { existed, allocated, freed, temporary, vanished, .. } = cell;
            [existed, allocated, freed, temporary, vanished].map(|amount| amount.objects)
        };
        let cells = self.cells.iter().flat_map(objects);
        let lifetimes = self.sites.iter().map(|site| site.lifetimes.most());
        let freed = self.pairs.iter().map(|pair| pair.freed.objects);
        let apart = [self.height.live.objects, self.vanished.objects, self.sharing];
        let counts = cells.chain(lifetimes).chain(freed).chain(apart).chain([self.faults.count()]);
        counts.fold(0, u64::saturating_add) < COUNT_END
    }

    /// What all numbers stand for; there are so many sites.
    pub(crate) fn all_keys(&self, sites: usize) -> Keys {
        let cells = self.cells.iter().map(|cell| (cell.key, cell.group)).collect();
        let pairs = self.pairs.iter().map(|pair| (pair.allocated_by, pair.freed_by)).collect();
        Keys { cells, pairs, sites }
    }

    /// The keys of all cells, by number.
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> {
        self.cells.iter().map(|cell| cell.key)
    }
}
