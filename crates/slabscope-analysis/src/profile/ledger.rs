//! Keeping the books while a trace is replayed.

mod row;

use slabscope_trace::{Row, Time};

use super::Temporary;
use super::books::{Books, Early, Pair, SiteTrack};
use super::cell::{Cell, Key};
use super::numbers::Numbers;
use super::tag::Tag;
use super::timeline::Timeline;
use crate::fault::{FaultKind, Found};
use crate::heap::{Heap, In, Listener, Out, Place};
use crate::moment::Clock;
use crate::replay::{Lens, Now, is_alloc_or_free};
use crate::report::Amount;
use crate::sites::{SiteId, Sites};
use crate::threads::Owner;
use row::{Recent, WAYS};

/// Keeps the books.
#[derive(Debug)]
pub(crate) struct Ledger {
    rule: Temporary,
    now: Now,
    pub(crate) books: Books,
    cells: Numbers<Key>,
    pairs: Numbers<(Owner, Owner)>,
    /// By site, the cell that was asked for last, for several threads whose events mix.
    recent: [Vec<Recent>; WAYS],
    /// How many objects each thread has allocated or freed; wraps around.
    events: Vec<u32>,
}

impl Ledger {
    /// Empty books; `rule` says which objects are temporary.
    pub(crate) fn new(rule: Temporary) -> Ledger {
        Ledger {
            rule,
            now: Now::default(),
            books: Books::default(),
            cells: Numbers::default(),
            pairs: Numbers::default(),
            recent: Default::default(),
            events: Vec::new(),
        }
    }

    /// Goes on with these books, where each thread has had so many events.
    pub(crate) fn resumed(rule: Temporary, books: Books, events: Vec<u32>) -> Ledger {
        let cells = Numbers::known(books.keys());
        let pairs = books.pairs.iter().map(|pair| (pair.allocated_by, pair.freed_by));
        Ledger { cells, pairs: Numbers::known(pairs), books, events, ..Ledger::new(rule) }
    }

    /// How many objects each thread has allocated or freed.
    pub(crate) fn thread_events(&self) -> &[u32] {
        &self.events
    }

    #[inline]
    fn site(&mut self, number: u32) -> &mut SiteTrack {
        let index = number as usize;
        if index >= self.books.sites.len() {
            self.books.sites.resize(index + 1, SiteTrack::default());
        }
        &mut self.books.sites[index]
    }

    /// Events of the current thread so far.
    #[inline]
    fn events(&mut self) -> &mut u32 {
        let index = self.now.owner.index().unwrap_or(0);
        if index >= self.events.len() {
            self.events.resize(index + 1, 0);
        }
        &mut self.events[index]
    }

    /// Whether the object that the current event frees was short-lived.
    fn is_soon(&mut self, tag: Tag, owner: Owner) -> bool {
        let (now, events) = (self.now, *self.events());
        owner == now.owner && self.rule.is_met(tag, now.time, events)
    }

    #[inline]
    fn live_changed(&mut self) {
        if let Some(timeline) = &mut self.books.timeline {
            timeline.set(self.now.time, self.books.height.live);
        }
    }

    fn cell(&mut self, key: Key) -> (u32, &mut Cell) {
        let Books { cells, sites, height, .. } = &mut self.books;
        let group = self.now.site.group;
        let number = cell_number(&mut self.cells, cells, sites, key, group, height.seen());
        (number, &mut cells[number as usize])
    }

    fn freed(&mut self, allocated_by: Owner, bytes: u64) {
        let pairs = &mut self.books.pairs;
        let number = pair_number(&mut self.pairs, pairs, allocated_by, self.now.owner);
        pairs[number].freed.add(bytes);
    }
}

/// The number of a cell, of this group and with nothing at the peaks it has `seen` if it is new. Its group
/// has a track.
fn cell_number(
    numbers: &mut Numbers<Key>,
    cells: &mut Vec<Cell>,
    tracks: &mut Vec<SiteTrack>,
    key: Key,
    group: SiteId,
    seen: u64,
) -> u32 {
    let hint = key.site.0 ^ key.owner.hint();
    let number = numbers.of(key, hint, cells.len());
    if number as usize == cells.len() {
        cells.push(Cell::new(key, group, seen));
        let needed = group.0 as usize + 1;
        tracks.resize(needed.max(tracks.len()), SiteTrack::default());
    }
    number
}

/// The number of what this thread freed of what that one had allocated.
fn pair_number(
    numbers: &mut Numbers<(Owner, Owner)>,
    pairs: &mut Vec<Pair>,
    allocated_by: Owner,
    freed_by: Owner,
) -> usize {
    let hint = allocated_by.hint() ^ freed_by.hint().rotate_left(8);
    let number = numbers.of((allocated_by, freed_by), hint, pairs.len()) as usize;
    if number == pairs.len() {
        pairs.push(Pair { allocated_by, freed_by, freed: Amount::default() });
    }
    number
}

impl Temporary {
    /// Whether an object that its thread frees at this time, after so many of its events, was
    /// temporary.
    #[inline]
    fn is_met(self, tag: Tag, time: Time, events: u32) -> bool {
        match self {
            Temporary::Events(most) => u64::from(events.wrapping_sub(tag.events)) <= most,
            Temporary::Time { ns } => time.since(tag.born) <= ns,
        }
    }
}

impl Lens for Ledger {
    #[inline]
    fn now(&mut self) -> &mut Now {
        &mut self.now
    }

    #[inline]
    fn event(&mut self, _: &Sites) {
        if is_alloc_or_free(self.now.kind) {
            let events = self.events();
            *events = events.wrapping_add(1);
        }
    }

    fn row(&mut self, heap: &mut Heap<Tag>, sites: &mut Sites, row: Row<'_>) {
        row::bring_near(heap.slots(), row);
        let mut events = row.into_iter();
        while let Some(unusual) = self.ordinary(heap.slots(), sites, &mut events) {
            self.placed(heap, sites, &unusual);
        }
    }

    fn sync(&mut self, clock: &Clock) {
        if self.books.timeline.is_none()
            && let Some(start) = clock.after_start(0)
        {
            self.books.timeline = Some(Timeline::new(start, start, self.books.height.live));
            self.books.height.peak_at = start;
        }
    }

    fn window_begins(&mut self, time: Time) {
        self.books.begin(time);
    }
}

impl Listener for Ledger {
    type Tag = Tag;

    #[inline]
    fn object_in(&mut self, place: Place, how: In) -> Tag {
        let (owner, born) = match how {
            In::Existed => (Owner::BEFORE, Tag::BEFORE),
            In::Allocated => (self.now.owner, self.now.time),
        };
        let key = Key { site: self.now.site.id, class: place.class, owner };
        let (rises, peaks) = {
            let height = &mut self.books.height;
            (height.add(place.bytes, self.now.time), height.peaks)
        };
        let (number, cell) = self.cell(key);
        if !rises {
            cell.settle(peaks);
        }
        match how {
            In::Existed => cell.existed.add(place.bytes),
            In::Allocated => cell.allocated.add(place.bytes),
        }
        let site = self.site(self.now.site.group.0);
        site.live_bytes = site.live_bytes.saturating_add(place.bytes);
        site.max_bytes = site.max_bytes.max(site.live_bytes);
        self.live_changed();
        Tag::new(number, *self.events(), born)
    }

    #[inline]
    fn object_out(&mut self, place: Place, tag: Tag, how: Out) {
        let books = &mut self.books;
        let Some(cell) = books.cells.get_mut(tag.cell()) else { return };
        cell.settle(books.height.peaks);
        let (key, group) = (cell.key, cell.group);
        match how {
            Out::Freed => cell.freed.add(place.bytes),
            Out::Vanished => {
                cell.vanished.add(place.bytes);
                books.vanished.add(place.bytes);
            }
        }
        books.height.sub(place.bytes);
        self.live_changed();
        let lifetime = tag.born().map(|born| self.now.time.since(born).max(0) as u64);
        let site = self.site(group.0);
        site.live_bytes = site.live_bytes.saturating_sub(place.bytes);
        if how == Out::Vanished {
            return;
        }
        if let Some(ns) = lifetime {
            site.lifetimes.add(ns);
        }
        self.freed(key.owner, place.bytes);
        if self.is_soon(tag, key.owner) {
            self.freed_soon(place, tag);
        }
    }

    fn object_shares(&mut self) {
        self.books.sharing += 1;
    }

    fn span_in(&mut self, pages: u64, how: In) {
        self.books.spans.span_in(pages, how, self.now.time);
    }

    fn span_out(&mut self, pages: u64, how: Out) {
        self.books.spans.span_out(pages, how);
    }

    fn stack_in(&mut self, bytes: u64, how: In) {
        self.books.stacks.stack_in(bytes, how, self.now.time);
    }

    fn stack_out(&mut self, bytes: u64, how: Out) {
        self.books.stacks.stack_out(bytes, how);
    }

    #[cold]
    fn fault(&mut self, kind: FaultKind, id: u64) {
        let Now { time, thread, kind: event, .. } = self.now;
        self.books.faults.add(kind, Found { time, thread, id, event });
    }
}

impl Ledger {
    #[inline]
    fn freed_soon(&mut self, place: Place, tag: Tag) {
        if tag.born >= self.books.begun {
            if let Some(cell) = self.books.cells.get_mut(tag.cell()) {
                cell.temporary.add(place.bytes);
            }
        } else if matches!(self.rule, Temporary::Events(_)) {
            let early = Early { born: tag.born, cell: tag.cell() as u32, bytes: place.bytes };
            self.books.early.push(early);
        }
    }
}
