//! Cells: what the objects of one site, size class and thread did.
//!
//! Every table by site, class or thread is a sum of these, and so is what was live at the peak: a
//! cell that was not touched since the peak still has it, and one that is touched afterwards writes
//! it down first. So the peak costs nothing while the heap grows.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::heap::{Place, SpanKind};
use crate::report::Amount;
use crate::sites::SiteId;
use crate::threads::Owner;

/// The size class of objects: 0 for large ones, [`Class::NONE`] for those in no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Class(pub(crate) u8);

impl Class {
    pub(crate) const NONE: Class = Class(u8::MAX);

    /// The class of an object that lies there.
    #[inline]
    pub(crate) fn of(place: Place) -> Class {
        match place.kind {
            Some(SpanKind::Small(class)) => Class(class.index() as u8),
            Some(SpanKind::Large) => Class(0),
            Some(SpanKind::Other | SpanKind::Unknown) | None => Class::NONE,
        }
    }
}

/// Whose objects a cell counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    pub(crate) site: SiteId,
    pub(crate) class: Class,
    pub(crate) owner: Owner,
}

/// What they did.
#[derive(Clone, Copy, Debug)]
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
    pub(crate) live: Amount,
    /// Those live at the peak of `peak`'s number.
    at_peak: Amount,
    peak: u64,
}

impl Cell {
    fn new(key: Key, group: SiteId, peak: u64) -> Cell {
        let none = Amount::default();
        Cell {
            key,
            group,
            existed: none,
            allocated: none,
            freed: none,
            temporary: none,
            live: none,
            at_peak: none,
            peak,
        }
    }

    /// Must come before a change of `live`: there were so many peaks before it.
    #[inline]
    pub(crate) fn settle(&mut self, peaks: u64) {
        if self.peak != peaks {
            self.peak = peaks;
            self.at_peak = self.live;
        }
    }

    /// What was live at the last of so many peaks.
    pub(crate) fn at_peak(&self, peaks: u64) -> Amount {
        if self.peak == peaks { self.at_peak } else { self.live }
    }
}

/// All cells so far, by number and by key.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    pub(crate) all: Vec<Cell>,
    numbers: HashMap<Key, u32, RandomState>,
    last: Option<(Key, u32)>,
}

impl Cells {
    /// The number of a cell; there is one for each key from then on.
    #[inline]
    pub(crate) fn number(&mut self, key: Key, group: SiteId, peaks: u64) -> u32 {
        if let Some((last, number)) = self.last
            && last == key
        {
            return number;
        }
        let next = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(key).or_insert_with(|| {
            // It had nothing at the peaks there were.
            self.all.push(Cell::new(key, group, peaks));
            next
        });
        self.last = Some((key, number));
        number
    }

    /// The cell with this number.
    #[inline]
    pub(crate) fn get(&mut self, number: u32) -> Option<&mut Cell> {
        self.all.get_mut(number as usize)
    }

    /// What there is existed before, and nothing has happened.
    pub(crate) fn window_begins(&mut self) {
        for cell in &mut self.all {
            let live = cell.live;
            // The first peak is the live bytes at this moment, and has the number 0.
            *cell =
                Cell { existed: live, live, at_peak: live, ..Cell::new(cell.key, cell.group, 0) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_what_was_live_at_the_peak() {
        let key = Key { site: SiteId(1), class: Class(2), owner: Owner::thread(3) };
        let mut cells = Cells::default();
        let number = cells.number(key, key.site, 0);
        assert_eq!(cells.number(key, key.site, 5), number);
        let cell = cells.get(number).unwrap();
        cell.settle(0);
        cell.live.add(8);
        // The first peak is now.
        assert_eq!(cell.at_peak(1).bytes, 8);
        cell.settle(1);
        cell.live.sub(8);
        assert_eq!(cell.at_peak(1).bytes, 8);
        cell.settle(1);
        cell.live.add(4);
        assert_eq!((cell.at_peak(1).bytes, cell.at_peak(2).bytes), (8, 4));
        let late = cells.number(Key { site: SiteId(9), ..key }, SiteId(9), 2);
        assert_eq!(cells.get(late).unwrap().at_peak(2), Amount::default());
    }
}
