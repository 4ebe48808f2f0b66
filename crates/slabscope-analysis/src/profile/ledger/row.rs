//! Rows of ordinary events: an object is allocated in a free slot, or one that is there is freed.
//!
//! What the events of a row share is at hand while it is taken: the thread, what is live, where the
//! timeline is.

use std::hint::black_box;

use slabscope_trace::{Placed, Row, RowEvents, Time};

use super::{Ledger, Temporary};
use crate::heap::{Class, PLACES};
use crate::profile::books::{Books, Early, Pair, SiteTrack};
use crate::profile::cell::{Cell, Key};
use crate::profile::height::Height;
use crate::profile::numbers::Numbers;
use crate::profile::tag::Tag;
use crate::profile::timeline::Timeline;
use crate::report::Amount;
use crate::sites::{Numbered, Sites};
use crate::threads::Owner;

/// How many threads that run at once keep their cells at hand, if their numbers follow each other.
pub(super) const WAYS: usize = 4;

/// The cell that was asked for last at a site.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recent {
    owner: Owner,
    cell: u32,
    class: u8,
}

/// No cell of any thread that allocates.
const NOTHING: Recent = Recent { owner: Owner::BEFORE, cell: 0, class: 0 };

impl Ledger {
    /// Takes events of a row up to the first that is not ordinary, and returns that one.
    pub(super) fn ordinary(
        &mut self,
        slots: &mut [Option<Tag>],
        sites: &Sites,
        row: &mut RowEvents<'_>,
    ) -> Option<Placed> {
        let events = *self.events();
        let mut desk = Desk::new(self, sites, events);
        let unusual = row.find(|event| {
            let slot = slots.get_mut(event.slot as usize);
            !slot.is_some_and(|slot| desk.take(slot, event))
        });
        let events = desk.close();
        *self.events() = events;
        unusual
    }
}

/// Reads the slots of a row, in memory that the processor has not at hand. These reads wait for each
/// other no more than for what is done with the slots, as those of the events one by one would.
#[inline]
pub(super) fn bring_near(slots: &[Option<Tag>], row: Row<'_>) {
    let is_live = |slot: u32| slots.get(slot as usize).is_some_and(Option::is_some);
    black_box(row.slots().filter(|&slot| is_live(slot)).count());
}

/// The books, open at what the events of a row share.
struct Desk<'l> {
    sites: &'l Sites,
    owner: Owner,
    rule: Temporary,
    begun: Time,
    recent: &'l mut Vec<Recent>,
    numbers: &'l mut Numbers<Key>,
    cells: &'l mut Vec<Cell>,
    tracks: &'l mut Vec<SiteTrack>,
    pair_numbers: &'l mut Numbers<(Owner, Owner)>,
    pairs: &'l mut Vec<Pair>,
    early: &'l mut Vec<Early>,
    /// Whose object was freed last, and the number of that pair.
    pair: (Owner, usize),
    line: Stretch<'l>,
    height: Height,
    height_out: &'l mut Height,
    /// The thread's events so far.
    events: u32,
}

impl<'l> Desk<'l> {
    fn new(ledger: &'l mut Ledger, sites: &'l Sites, events: u32) -> Desk<'l> {
        let Ledger { rule, now, books, cells, pairs, recent, .. } = ledger;
        let Books { begun, height, .. } = *books;
        Desk {
            sites,
            owner: now.owner,
            rule: *rule,
            begun,
            recent: &mut recent[now.owner.hint() as usize % WAYS],
            numbers: cells,
            cells: &mut books.cells,
            tracks: &mut books.sites,
            pair_numbers: pairs,
            pairs: &mut books.pairs,
            early: &mut books.early,
            pair: (now.owner, usize::MAX),
            line: Stretch::new(&mut books.timeline),
            height,
            height_out: &mut books.height,
            events,
        }
    }

    /// Puts everything back; returns the thread's events so far.
    fn close(mut self) -> u32 {
        self.line.close(self.height.live);
        *self.height_out = self.height;
        self.events
    }

    /// Takes an event if it is an ordinary one; if not, nothing was changed.
    #[inline(always)]
    fn take(&mut self, slot: &mut Option<Tag>, event: &Placed) -> bool {
        match (event.is_alloc, *slot) {
            (true, None) => {
                let site = self.sites.at(event.ty);
                // Objects of unknown sites are to be counted.
                let is_known = site != Numbered::UNKNOWN || event.ty == 0;
                if is_known {
                    *slot = Some(self.alloc(event, site));
                }
                is_known
            }
            (false, Some(tag)) if tag.cell() < self.cells.len() => {
                *slot = None;
                self.free(event, tag);
                true
            }
            _ => false,
        }
    }

    #[inline(always)]
    fn alloc(&mut self, event: &Placed, site: Numbered) -> Tag {
        let (time, class) = (event.time, event.class);
        let bytes = PLACES[usize::from(class)].bytes;
        self.line.reach(time, self.height.live);
        self.events = self.events.wrapping_add(1);
        let rises = self.height.add(bytes, time);
        self.line.raise(self.height.live.bytes);
        let number = match self.recent.get(site.id.0 as usize) {
            Some(recent) if recent.owner == self.owner && recent.class == class => recent.cell,
            _ => self.find_cell(site, class),
        };
        let cell = &mut self.cells[number as usize];
        if !rises {
            cell.settle(self.height.peaks);
        }
        cell.allocated.add(bytes);
        let track = &mut self.tracks[cell.group.0 as usize];
        track.live_bytes = track.live_bytes.saturating_add(bytes);
        track.max_bytes = track.max_bytes.max(track.live_bytes);
        Tag::new(number, self.events, time)
    }

    #[inline(always)]
    fn free(&mut self, event: &Placed, tag: Tag) {
        let time = event.time;
        let bytes = PLACES[usize::from(event.class)].bytes;
        self.line.reach(time, self.height.live);
        self.events = self.events.wrapping_add(1);
        self.height.sub(bytes);
        let cell = &mut self.cells[tag.cell()];
        cell.settle(self.height.peaks);
        cell.freed.add(bytes);
        let by = cell.key.owner;
        if by == self.owner && self.rule.is_met(tag, time, self.events) {
            if tag.born >= self.begun {
                cell.temporary.add(bytes);
            } else if matches!(self.rule, Temporary::Events(_)) {
                self.early.push(Early { born: tag.born, cell: tag.cell() as u32, bytes });
            }
        }
        let track = &mut self.tracks[cell.group.0 as usize];
        track.live_bytes = track.live_bytes.saturating_sub(bytes);
        if let Some(born) = tag.born() {
            track.lifetimes.add(time.since(born).max(0) as u64);
        }
        if self.pair.0 != by || self.pair.1 == usize::MAX {
            self.find_pair(by);
        }
        self.pairs[self.pair.1].freed.add(bytes);
    }

    #[cold]
    fn find_cell(&mut self, site: Numbered, class: u8) -> u32 {
        let key = Key { site: site.id, class: Class(class), owner: self.owner };
        let seen = self.height.seen();
        let number =
            super::cell_number(self.numbers, self.cells, self.tracks, key, site.group, seen);
        let index = site.id.0 as usize;
        if index >= self.recent.len() {
            self.recent.resize(index + 1, NOTHING);
        }
        self.recent[index] = Recent { owner: self.owner, cell: number, class };
        number
    }

    #[cold]
    fn find_pair(&mut self, allocated_by: Owner) {
        let number = super::pair_number(self.pair_numbers, self.pairs, allocated_by, self.owner);
        self.pair = (allocated_by, number);
    }
}

/// Where the timeline is.
struct Stretch<'l> {
    line: Option<&'l mut Timeline>,
    /// Its end.
    end: Time,
    /// The most that was live in it.
    max_bytes: u64,
}

impl<'l> Stretch<'l> {
    fn new(line: &'l mut Option<Timeline>) -> Stretch<'l> {
        let line = line.as_mut();
        let end = line.as_ref().map_or(Time(i64::MAX), |line| line.end());
        Stretch { line, end, max_bytes: 0 }
    }

    /// Goes on to this time; `live` is what is live before it.
    #[inline(always)]
    fn reach(&mut self, time: Time, live: Amount) {
        if time >= self.end {
            self.go_on(time, live);
        }
    }

    #[cold]
    fn go_on(&mut self, time: Time, live: Amount) {
        let Some(line) = &mut self.line else { return };
        line.note(live, self.max_bytes);
        line.set(time, live);
        (self.end, self.max_bytes) = (line.end(), 0);
    }

    #[inline(always)]
    fn raise(&mut self, bytes: u64) {
        self.max_bytes = self.max_bytes.max(bytes);
    }

    fn close(&mut self, live: Amount) {
        if let Some(line) = &mut self.line {
            line.note(live, self.max_bytes);
        }
    }
}
