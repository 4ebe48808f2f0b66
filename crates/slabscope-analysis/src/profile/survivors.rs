//! When the objects that are left at the end were allocated.

use serde::Serialize;
use slabscope_trace::Time;

use super::tag::Tag;
use crate::heap::Heap;

/// How many stretches a part of a trace is divided into.
pub const AGES: usize = 10;

/// Bytes of objects left at the end, by when they were allocated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ages {
    /// Before the part began.
    pub before_bytes: u64,
    /// In each tenth of the part.
    pub tenth_bytes: [u64; AGES],
}

impl Ages {
    /// Bytes allocated in the last fifth: most of them may yet be freed.
    pub fn young_bytes(&self) -> u64 {
        self.tenth_bytes[8..].iter().fold(0, |sum, &bytes| sum.saturating_add(bytes))
    }

    /// Bytes allocated in the first half, or before: they have outlived most others.
    pub fn old_bytes(&self) -> u64 {
        let old = self.tenth_bytes[..5].iter();
        old.fold(self.before_bytes, |sum, &bytes| sum.saturating_add(bytes))
    }

    /// In how many tenths something was allocated that is left. What stays from nearly all of them
    /// keeps growing.
    pub fn tenths(&self) -> usize {
        self.tenth_bytes.iter().filter(|&&bytes| bytes > 0).count()
    }

    pub(crate) fn plus(&mut self, other: &Ages) {
        self.before_bytes = self.before_bytes.saturating_add(other.before_bytes);
        for (bytes, more) in self.tenth_bytes.iter_mut().zip(other.tenth_bytes) {
            *bytes = bytes.saturating_add(more);
        }
    }
}

/// The ages of what is left, by cell.
#[derive(Debug, Default)]
pub(crate) struct Survivors(Vec<Ages>);

impl Survivors {
    /// Looks at every object left in `heap`.
    pub(crate) fn take(heap: &Heap<Tag>, cells: usize, from: Time, to: Time) -> Survivors {
        let mut ages = vec![Ages::default(); cells];
        let mut add = |tag: Tag, bytes: u64| {
            let Some(ages) = ages.get_mut(tag.cell()) else { return };
            let sum = match tag.born().filter(|&born| born >= from) {
                None => &mut ages.before_bytes,
                Some(born) => &mut ages.tenth_bytes[tenth(born, from, to)],
            };
            *sum = sum.saturating_add(bytes);
        };
        for view in heap.spans() {
            view.objects().for_each(|(_, tag)| add(tag, view.span.slot_bytes));
        }
        heap.strays().for_each(|tag| add(tag, 0));
        Survivors(ages)
    }

    /// Those of a cell.
    pub(crate) fn of(&self, cell: usize) -> Ages {
        self.0.get(cell).copied().unwrap_or_default()
    }
}

fn tenth(born: Time, from: Time, to: Time) -> usize {
    let part = i128::from(born.since(from)) * AGES as i128;
    let whole = i128::from(to.since(from)).max(1);
    usize::try_from(part / whole).unwrap_or(0).min(AGES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenths_cover_the_part() {
        let at = |born| tenth(Time(born), Time(100), Time(200));
        assert_eq!([at(100), at(109), at(110), at(199), at(200), at(900)], [0, 0, 1, 9, 9, 9]);
        assert_eq!(tenth(Time(5), Time(5), Time(5)), 0);
        assert_eq!(tenth(Time(i64::MAX), Time(0), Time(i64::MAX)), 9);
    }

    #[test]
    fn young_and_old_are_the_ends() {
        let ages = Ages { before_bytes: 1, tenth_bytes: [2, 0, 0, 0, 4, 8, 0, 16, 32, 64] };
        assert_eq!((ages.old_bytes(), ages.young_bytes(), ages.tenths()), (7, 96, 6));
    }
}
