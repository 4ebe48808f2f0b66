//! Cells: what the objects of one site, size class and thread did.
//!
//! Every table by site, class or thread is a sum of these, and so is what was live at the peak: a
//! cell that was not touched since the peak still has it, and one that is touched afterwards writes
//! it down first. So the peak costs nothing while the heap grows.

use serde::{Deserialize, Serialize};

use crate::heap::Class;
use crate::report::Amount;
use crate::sites::SiteId;
use crate::threads::Owner;

/// Whose objects a cell counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Key {
    pub(crate) site: SiteId,
    pub(crate) owner: Owner,
    pub(crate) class: Class,
}

/// What they did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub(crate) key: Key,
    /// The group of the site; see [`crate::sites::Sites::group`].
    pub(crate) group: SiteId,
    /// Those there as the part began.
    pub(crate) existed: Amount,
    pub(crate) allocated: Amount,
    /// Those freed, whoever did.
    pub(crate) freed: Amount,
    /// Those freed soon after they were allocated, and by the same thread.
    pub(crate) temporary: Amount,
    /// Those that went without an event for it.
    pub(crate) vanished: Amount,
    /// Those live at the peak of `peak`'s number.
    at_peak: Amount,
    peak: u64,
}

impl Cell {
    pub(crate) fn new(key: Key, group: SiteId, peak: u64) -> Cell {
        let none = Amount::default();
        Cell {
            key,
            group,
            existed: none,
            allocated: none,
            freed: none,
            temporary: none,
            vanished: none,
            at_peak: none,
            peak,
        }
    }

    /// Those there now.
    #[inline]
    pub(crate) fn live(&self) -> Amount {
        let mut live = self.existed;
        live.plus(self.allocated);
        live.minus(self.freed);
        live.minus(self.vanished);
        live
    }

    /// Must come before a change: there were so many peaks before it.
    #[inline]
    pub(crate) fn settle(&mut self, peaks: u64) {
        if self.peak != peaks {
            self.peak = peaks;
            self.at_peak = self.live();
        }
    }

    /// What was live at the last of so many peaks.
    pub(crate) fn at_peak(&self, peaks: u64) -> Amount {
        if self.peak == peaks { self.at_peak } else { self.live() }
    }

    /// The same cell as a part begins: what there is existed before, and nothing has happened.
    pub(crate) fn begun(&self) -> Cell {
        let live = self.live();
        // The first peak is the live bytes at this moment, and has the number 0.
        Cell { existed: live, at_peak: live, ..Cell::new(self.key, self.group, 0) }
    }

    /// Takes in what happened in the part that follows, after so many peaks; whether its own is higher
    /// than those, it says.
    pub(crate) fn append(&mut self, next: &CellDelta, peaks: u64, is_higher: bool) {
        self.settle(peaks);
        if is_higher {
            (self.at_peak, self.peak) = (next.at_peak, peaks + 1);
        }
        self.existed.plus(next.existed);
        self.allocated.plus(next.allocated);
        self.freed.plus(next.freed);
        self.temporary.plus(next.temporary);
        self.vanished.plus(next.vanished);
    }

    /// What happened since the part began with `carried` live; `None` if nothing did. There were so
    /// many peaks.
    pub(crate) fn delta(&self, number: u32, carried: Amount, peaks: u64) -> Option<CellDelta> {
        let mut existed = self.existed;
        existed.minus(carried);
        let Cell { allocated, freed, temporary, vanished, .. } = *self;
        let none = Amount::default();
        let is_idle = [existed, allocated, freed, temporary, vanished] == [none; 5];
        let at_peak = self.at_peak(peaks);
        let delta = CellDelta { number, existed, allocated, freed, temporary, vanished, at_peak };
        (!is_idle).then_some(delta)
    }
}

/// What the objects of a cell did in a part of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CellDelta {
    /// The cell's number.
    pub(crate) number: u32,
    /// Those that the trace says existed, and that were not known of before.
    existed: Amount,
    allocated: Amount,
    freed: Amount,
    temporary: Amount,
    vanished: Amount,
    /// Those live at the part's own peak.
    at_peak: Amount,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_what_was_live_at_the_peak() {
        let key = Key { site: SiteId(1), class: Class(2), owner: Owner::thread(3) };
        let mut cell = Cell::new(key, key.site, 0);
        cell.settle(0);
        cell.allocated.add(8);
        // The first peak is now.
        assert_eq!(cell.at_peak(1).bytes, 8);
        cell.settle(1);
        cell.freed.add(8);
        assert_eq!(cell.at_peak(1).bytes, 8);
        cell.settle(1);
        cell.allocated.add(4);
        assert_eq!((cell.at_peak(1).bytes, cell.at_peak(2).bytes), (8, 4));
        assert_eq!(Cell::new(key, key.site, 2).at_peak(2), Amount::default());
    }

    #[test]
    fn the_higher_peak_of_two_parts_counts() {
        let key = Key { site: SiteId(1), class: Class(2), owner: Owner::thread(3) };
        let mut first = Cell::new(key, key.site, 0);
        first.allocated.add(8);
        let mut second = first.begun();
        assert_eq!((second.existed.bytes, second.at_peak(0).bytes), (8, 8));
        second.settle(0);
        second.allocated.add(2);
        let delta = second.delta(0, first.live(), 1).expect("something happened");
        assert_eq!(first.begun().delta(0, first.live(), 0), None);
        for (is_higher, expected) in [(false, 8), (true, 10)] {
            let mut both = first;
            both.append(&delta, 1, is_higher);
            let peaks = 1 + u64::from(is_higher);
            assert_eq!((both.at_peak(peaks).bytes, both.live().bytes), (expected, 10));
        }
    }
}
