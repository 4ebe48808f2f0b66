//! What a part of a trace adds to the books of the parts before it: only what changed.

use serde::{Deserialize, Serialize};

use super::books::{Books, Early, Pair, SiteTrack};
use super::cell::{Cell, CellDelta, Key};
use super::height::Height;
use super::spans::SpanTally;
use super::stacks::StackTally;
use super::timeline::{self, Timeline};
use crate::fault::Faults;
use crate::report::Amount;
use crate::sites::SiteId;
use crate::threads::Owner;

/// What happened in a part of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Delta {
    cells: Vec<CellDelta>,
    sites: Vec<(u32, SiteTrack)>,
    pairs: Vec<(u32, Amount)>,
    early: Vec<Early>,
    #[serde(deserialize_with = "timeline::possible")]
    timeline: Option<Timeline>,
    height: Height,
    vanished: Amount,
    sharing: u64,
    spans: SpanTally,
    stacks: StackTally,
    faults: Faults,
}

/// What numbers of cells and pairs stand for, in the whole trace.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Keys {
    /// With the group of the cell's site.
    pub(crate) cells: Vec<(Key, SiteId)>,
    /// Who allocated, who freed.
    pub(crate) pairs: Vec<(Owner, Owner)>,
    /// How many sites there are.
    pub(crate) sites: usize,
}

impl Delta {
    /// What happened in the part that `part` keeps, which follows those that `before` has.
    pub(crate) fn of(part: &Books, before: &Books) -> Delta {
        let carried =
            |number: usize| before.cells.get(number).map_or(Amount::default(), Cell::live);
        let cells = (0_u32..).zip(&part.cells);
        let cells = cells.filter_map(|(number, cell)| {
            cell.delta(number, carried(number as usize), part.height.peaks)
        });
        let known =
            |number: u32| before.sites.get(number as usize).map_or(0, |site| site.live_bytes);
        let sites = (0_u32..).zip(&part.sites).filter(|(number, site)| {
            let idle = SiteTrack {
                live_bytes: known(*number),
                max_bytes: known(*number),
                ..SiteTrack::default()
            };
            **site != idle
        });
        let pairs = (0_u32..).zip(&part.pairs).filter(|(_, pair)| pair.freed.objects > 0);
        Delta {
            cells: cells.collect(),
            sites: sites.map(|(number, site)| (number, site.clone())).collect(),
            pairs: pairs.map(|(number, pair)| (number, pair.freed)).collect(),
            early: part.early.clone(),
            timeline: part.timeline.clone(),
            height: part.height,
            vanished: part.vanished,
            sharing: part.sharing,
            spans: part.spans.clone(),
            stacks: part.stacks.clone(),
            faults: part.faults.clone(),
        }
    }
}

impl Books {
    /// Takes in the part that follows. `None` when it speaks of what `keys` do not have.
    pub(crate) fn append(&mut self, next: &Delta, keys: &Keys) -> Option<()> {
        let peaks = self.height.peaks;
        let is_higher = next.height.peak.bytes > self.height.peak.bytes;
        let last = next.cells.iter().map(|change| change.number as usize + 1).max();
        self.meet_cells(last.unwrap_or(0), keys)?;
        for change in &next.cells {
            self.cells.get_mut(change.number as usize)?.append(change, peaks, is_higher);
        }
        self.height.append(&next.height);
        self.append_tracks(next, keys)?;
        for early in &next.early {
            let cell = self.cells.get_mut(early.cell as usize)?;
            if early.born >= self.begun {
                cell.temporary.plus(Amount { objects: 1, bytes: early.bytes });
            } else {
                self.early.push(*early);
            }
        }
        match (&mut self.timeline, &next.timeline) {
            // Without an event there is no moment either.
            (Some(line), Some(next_line)) if !next.cells.is_empty() => line.append(next_line),
            (None, line) => {
                self.timeline.clone_from(line);
                self.height.peak_at = next.height.peak_at;
            }
            _ => {}
        }
        self.vanished.plus(next.vanished);
        self.sharing = self.sharing.saturating_add(next.sharing);
        self.spans.append(&next.spans);
        self.stacks.append(&next.stacks);
        self.faults.append(&next.faults);
        Some(())
    }

    /// Makes the first so many cells known.
    pub(crate) fn meet_cells(&mut self, count: usize, keys: &Keys) -> Option<()> {
        let peaks = self.height.peaks;
        for &(key, group) in keys.cells.get(..count)?.iter().skip(self.cells.len()) {
            self.cells.push(Cell::new(key, group, peaks));
            // The group of each has a track.
            let tracks = self.sites.len().max(group.0 as usize + 1);
            self.sites.resize(tracks, SiteTrack::default());
        }
        Some(())
    }

    /// Makes the first so many pairs known.
    pub(crate) fn meet_pairs(&mut self, count: usize, keys: &Keys) -> Option<()> {
        let new = keys.pairs.get(..count)?.iter().skip(self.pairs.len());
        self.pairs.extend(new.map(|&(allocated_by, freed_by)| Pair {
            allocated_by,
            freed_by,
            freed: Amount::default(),
        }));
        Some(())
    }

    fn append_tracks(&mut self, next: &Delta, keys: &Keys) -> Option<()> {
        for (number, more) in &next.sites {
            let number = *number as usize;
            if number >= keys.sites {
                return None;
            }
            self.sites.resize(self.sites.len().max(number + 1), SiteTrack::default());
            let site = self.sites.get_mut(number)?;
            site.live_bytes = more.live_bytes;
            site.max_bytes = site.max_bytes.max(more.max_bytes);
            site.lifetimes.append(&more.lifetimes);
        }
        let last = next.pairs.iter().map(|&(number, _)| number as usize + 1).max();
        self.meet_pairs(last.unwrap_or(0), keys)?;
        for &(number, freed) in &next.pairs {
            self.pairs.get_mut(number as usize)?.freed.plus(freed);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use slabscope_trace::Time;

    use super::super::books::COUNT_END;
    use super::*;
    use crate::heap::Class;

    #[test]
    fn a_timeline_that_cannot_be_is_not_read() {
        let config = bincode::config::standard();
        for (doublings, is_possible) in [(0, true), (127, false)] {
            let line = Timeline::new(Time(0), Time(5), Amount::default());
            let timeline = Some(line.doubled_often(doublings));
            let part = Books { timeline, ..Books::default() };
            let delta = Delta::of(&part, &Books::default());
            let bytes = bincode::serde::encode_to_vec(&delta, config).unwrap();
            let read = bincode::serde::decode_from_slice::<Delta, _>(&bytes, config);
            assert_eq!(read.is_ok(), is_possible);
        }
    }

    /// Books of one cell with so many objects allocated.
    fn of_one(allocated: u64) -> Books {
        let key = Key { site: SiteId::UNKNOWN, owner: Owner::BEFORE, class: Class::NONE };
        let mut cell = Cell::new(key, SiteId::UNKNOWN, 0);
        cell.allocated.objects = allocated;
        Books { cells: vec![cell], sites: vec![SiteTrack::default()], ..Books::default() }
    }

    #[test]
    fn counts_that_no_trace_reaches_are_not_counted_on_from() {
        let nothing = Books::default();
        for (allocated, is_possible) in [(7, true), (1 << 59, false), (u64::MAX, false)] {
            let part = of_one(allocated);
            let (delta, keys) = (Delta::of(&part, &nothing), part.all_keys(1));
            let mut books = Books::default();
            // Each is possible alone, but not what they make together.
            books.append(&delta, &keys).unwrap();
            books.append(&delta, &keys).unwrap();
            assert_eq!(books.is_possible(), is_possible, "{allocated}");
        }
        let books = Books { sharing: COUNT_END, ..of_one(1) };
        assert!(!books.is_possible());
    }

    #[test]
    fn objects_freed_early_add_to_any_count() {
        let mut part = of_one(1);
        part.cells[0].temporary.objects = u64::MAX;
        part.early = vec![Early { born: Time(3), cell: 0, bytes: 8 }];
        let mut books = Books::default();
        books.append(&Delta::of(&part, &Books::default()), &part.all_keys(1)).unwrap();
        assert!(!books.is_possible());
    }
}
