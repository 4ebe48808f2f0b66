//! Keeping the books while a trace is replayed.

use std::collections::HashMap;
use std::num::NonZeroU32;

use foldhash::fast::RandomState;
use slabscope_trace::Time;
use slabscope_trace::alloc_free::AllocFree;

use super::Temporary;
use super::cell::{Cells, Class, Key};
use super::lifetimes::Lifetimes;
use super::timeline::Timeline;
use crate::fault::FaultKind;
use crate::heap::{In, Listener, Out, Place};
use crate::moment::Clock;
use crate::replay::{Lens, Now};
use crate::report::Amount;
use crate::sites::{SiteId, Sites};
use crate::threads::Owner;

/// What is known of an object while it lives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag {
    /// One more than the number of its cell.
    cell: NonZeroU32,
    /// How many objects its thread had allocated or freed then; wraps around.
    events: u32,
    /// When it was allocated.
    born: Time,
}

/// There is one for each live slot of the traced heap, and free ones beside it.
const _: () = assert!(size_of::<Option<Tag>>() == 16);

/// An object that was there when the trace began.
const BEFORE: Time = Time(i64::MIN);

impl Tag {
    /// The number of its cell.
    pub(crate) fn cell(self) -> usize {
        self.cell.get() as usize - 1
    }

    /// When it was allocated; `None` if that was before the trace began.
    pub(crate) fn born(self) -> Option<Time> {
        (self.born != BEFORE).then_some(self.born)
    }
}

/// What is kept of each group of sites beside its cells.
#[derive(Clone, Debug, Default)]
pub(crate) struct SiteTrack {
    live_bytes: u64,
    /// The most bytes of it that were live at once.
    pub(crate) max_bytes: u64,
    pub(crate) lifetimes: Lifetimes,
}

/// The books.
#[derive(Debug)]
pub(crate) struct Ledger {
    rule: Temporary,
    now: Now,
    /// The group of the site of this event.
    group: SiteId,
    pub(crate) cells: Cells,
    /// By the number of the group's first site.
    pub(crate) sites: Vec<SiteTrack>,
    /// What one thread freed of what another, or itself, had allocated.
    pub(crate) pairs: HashMap<(Owner, Owner), Amount, RandomState>,
    /// How many objects each thread has allocated or freed; wraps around.
    events: Vec<u32>,
    pub(crate) timeline: Option<Timeline>,
    pub(crate) live: Amount,
    pub(crate) peak: Amount,
    pub(crate) peak_at: Time,
    /// How many peaks there were: each is higher than the last.
    pub(crate) peaks: u64,
    /// When the part began.
    pub(crate) begun: Time,
    pub(crate) vanished: Amount,
    /// Events that contradict those before them.
    pub(crate) faults: u64,
}

impl Ledger {
    /// Empty books; `rule` says which objects are temporary.
    pub(crate) fn new(rule: Temporary) -> Ledger {
        Ledger {
            rule,
            now: Now::default(),
            group: SiteId::UNKNOWN,
            cells: Cells::default(),
            sites: Vec::new(),
            pairs: HashMap::default(),
            events: Vec::new(),
            timeline: None,
            live: Amount::default(),
            peak: Amount::default(),
            peak_at: Time(0),
            peaks: 0,
            begun: Time(i64::MIN),
            vanished: Amount::default(),
            faults: 0,
        }
    }

    #[inline]
    fn site(&mut self, number: u32) -> &mut SiteTrack {
        let index = number as usize;
        if index >= self.sites.len() {
            self.sites.resize(index + 1, SiteTrack::default());
        }
        &mut self.sites[index]
    }

    /// Events of the current thread so far.
    #[inline]
    fn events(&mut self) -> u32 {
        let index = self.now.owner.index().unwrap_or(0);
        if index >= self.events.len() {
            self.events.resize(index + 1, 0);
        }
        self.events[index]
    }

    #[inline]
    fn is_temporary(&mut self, tag: Tag, owner: Owner) -> bool {
        if owner != self.now.owner || tag.born < self.begun {
            return false;
        }
        match self.rule {
            Temporary::Events(most) => u64::from(self.events().wrapping_sub(tag.events)) <= most,
            Temporary::Time { ns } => self.now.time.since(tag.born) <= ns,
        }
    }

    #[inline]
    fn live_changed(&mut self) {
        if let Some(timeline) = &mut self.timeline {
            timeline.set(self.now.time, self.live);
        }
    }
}

impl Lens for Ledger {
    #[inline]
    fn event(&mut self, now: Now, sites: &Sites) {
        self.now = now;
        self.group = sites.group(now.site);
        if matches!(now.what, AllocFree::HeapObjectAlloc { .. } | AllocFree::HeapObjectFree { .. })
        {
            let events = self.events().wrapping_add(1);
            self.events[now.owner.index().unwrap_or(0)] = events;
        }
    }

    fn sync(&mut self, clock: &Clock) {
        if self.timeline.is_none()
            && let Some(start) = clock.after_start(0)
        {
            self.timeline = Some(Timeline::new(start, self.live));
            self.peak_at = start;
        }
    }

    fn window_begins(&mut self, time: Time) {
        self.cells.window_begins();
        for site in &mut self.sites {
            *site = SiteTrack {
                live_bytes: site.live_bytes,
                max_bytes: site.live_bytes,
                lifetimes: Lifetimes::default(),
            };
        }
        self.pairs.clear();
        self.timeline = Some(Timeline::new(time, self.live));
        (self.peak, self.peak_at, self.peaks) = (self.live, time, 0);
        (self.begun, self.vanished) = (time, Amount::default());
    }
}

impl Listener for Ledger {
    type Tag = Tag;

    fn object_in(&mut self, place: Place, how: In) -> Tag {
        let (owner, born) = match how {
            In::Existed => (Owner::BEFORE, BEFORE),
            In::Allocated => (self.now.owner, self.now.time),
        };
        let key = Key { site: self.now.site, class: Class::of(place), owner };
        let number = self.cells.number(key, self.group, self.peaks);
        let peaks = self.peaks;
        if let Some(cell) = self.cells.get(number) {
            cell.settle(peaks);
            match how {
                In::Existed => cell.existed.add(place.bytes),
                In::Allocated => cell.allocated.add(place.bytes),
            }
            cell.live.add(place.bytes);
        }
        let site = self.site(self.group.0);
        site.live_bytes = site.live_bytes.saturating_add(place.bytes);
        site.max_bytes = site.max_bytes.max(site.live_bytes);
        self.live.add(place.bytes);
        if self.live.bytes > self.peak.bytes {
            (self.peak, self.peak_at) = (self.live, self.now.time);
            self.peaks += 1;
        }
        self.live_changed();
        Tag { cell: NonZeroU32::MIN.saturating_add(number), events: self.events(), born }
    }

    fn object_out(&mut self, place: Place, tag: Tag, how: Out) {
        let peaks = self.peaks;
        let Some(cell) = self.cells.get(tag.cell.get() - 1) else { return };
        cell.settle(peaks);
        cell.live.sub(place.bytes);
        let (key, group) = (cell.key, cell.group);
        self.live.sub(place.bytes);
        self.live_changed();
        let lifetime = tag.born().map(|born| self.now.time.since(born).max(0) as u64);
        let site = self.site(group.0);
        site.live_bytes = site.live_bytes.saturating_sub(place.bytes);
        if how == Out::Vanished {
            return self.vanished.add(place.bytes);
        }
        if let Some(ns) = lifetime {
            site.lifetimes.add(ns);
        }
        self.pairs.entry((key.owner, self.now.owner)).or_default().add(place.bytes);
        let is_temporary = self.is_temporary(tag, key.owner);
        if let Some(cell) = self.cells.get(tag.cell.get() - 1) {
            cell.freed.add(place.bytes);
            if is_temporary {
                cell.temporary.add(place.bytes);
            }
        }
    }

    fn object_shares(&mut self) {}
    fn span_in(&mut self, _: u64, _: In) {}
    fn span_out(&mut self, _: u64, _: Out) {}
    fn stack_in(&mut self, _: u64, _: In) {}
    fn stack_out(&mut self, _: u64, _: Out) {}

    fn fault(&mut self, _: FaultKind, _: u64) {
        self.faults += 1;
    }
}
