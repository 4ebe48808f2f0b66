//! Figures by size class.

use slabscope_wire::size_class::{COUNT, SizeClass};

use crate::heap::{Place, SpanKind};
use crate::report::ClassRow;

/// A row for each size class, and one for objects in no slot.
#[derive(Debug)]
pub(crate) struct Classes(Vec<ClassRow>);

impl Default for Classes {
    fn default() -> Self {
        let row = |class: Option<u8>| ClassRow {
            class,
            slot_bytes: class
                .and_then(SizeClass::new)
                .filter(|&class| class != SizeClass::LARGE)
                .map(|class| class.slot_size() as u64),
            existed: Default::default(),
            allocated: Default::default(),
            requested: Default::default(),
            freed: Default::default(),
            live: Default::default(),
        };
        Classes((0..COUNT as u8).map(Some).chain([None]).map(row).collect())
    }
}

impl Classes {
    /// The row an object there is counted in.
    #[inline]
    pub(crate) fn row(&mut self, place: Place) -> &mut ClassRow {
        let index = match place.kind {
            Some(SpanKind::Small(class)) => class.index(),
            Some(SpanKind::Large) => 0,
            Some(SpanKind::Other | SpanKind::Unknown) | None => COUNT,
        };
        &mut self.0[index]
    }

    /// Objects there are existed before, and nothing has happened.
    pub(crate) fn window_begins(&mut self) {
        for row in &mut self.0 {
            row.existed = row.live;
            (row.allocated, row.freed) = Default::default();
            row.requested = Default::default();
        }
    }

    /// The rows with anything in them: small classes, then large objects, then the rest.
    pub(crate) fn into_rows(self) -> Vec<ClassRow> {
        let mut rows = self.0;
        rows.sort_by_key(|row| (row.slot_bytes.is_none(), row.class.is_none(), row.class));
        rows.retain(|row| row.existed.objects + row.allocated.objects > 0);
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_from_small_to_large_and_empty_ones_stay_away() {
        let mut classes = Classes::default();
        let small = |index| Some(SpanKind::Small(SizeClass::new(index).unwrap()));
        for kind in [None, Some(SpanKind::Large), small(67), small(1)] {
            classes.row(Place { kind, bytes: 8 }).allocated.add(8);
        }
        let rows = classes.into_rows();
        let found: Vec<_> = rows.iter().map(|row| (row.class, row.slot_bytes)).collect();
        assert_eq!(
            found,
            [(Some(1), Some(8)), (Some(67), Some(32_768)), (Some(0), None), (None, None)]
        );
    }
}
