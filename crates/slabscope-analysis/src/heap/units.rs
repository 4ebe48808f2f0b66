//! What the ids of a trace count in.

use slabscope_trace::alloc_free::Info;
use slabscope_wire::alloc_free::{OBJECT_ALIGN, PAGE_SIZE};

/// Sizes of the units of ids, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Units {
    page: u64,
    object: u64,
}

impl Default for Units {
    /// What every known writer uses.
    fn default() -> Self {
        Units { page: PAGE_SIZE, object: OBJECT_ALIGN }
    }
}

impl Units {
    /// The units a trace names; `None` when pages are not made of whole objects.
    pub(crate) fn new(info: &Info) -> Option<Self> {
        let Info { page_size: page, min_heap_align: object, .. } = *info;
        (object > 0 && page > 0 && page % object == 0).then_some(Units { page, object })
    }

    /// Sizes of pages and of the units of objects, in bytes.
    pub(super) fn sizes(&self) -> [u64; 2] {
        [self.page, self.object]
    }

    /// Units of these sizes; `None` as in [`Units::new`].
    pub(super) fn of_sizes([page, object]: [u64; 2]) -> Option<Units> {
        (object > 0 && page > 0 && page % object == 0).then_some(Units { page, object })
    }

    /// Whether both are powers of two, as everybody's are.
    pub(crate) fn are_powers(&self) -> bool {
        self.page.is_power_of_two() && self.object.is_power_of_two()
    }

    /// Objects by shifting, where that can be done; else by shifts that find nothing.
    pub(super) fn shifts(&self) -> Shifts {
        if !self.are_powers() {
            return Shifts { page: u64::BITS - 1, unit: 0 };
        }
        let page = (self.page / self.object).trailing_zeros();
        Shifts { page, unit: self.object.trailing_zeros() }
    }

    /// Bytes of so many pages.
    pub(crate) fn bytes(&self, pages: u64) -> u64 {
        pages.saturating_mul(self.page)
    }

    /// The first page id that no address lies in.
    pub(crate) fn page_end(&self) -> u64 {
        u64::MAX / self.page
    }

    /// The page an object lies in.
    #[inline]
    pub(crate) fn page_of(&self, object: u64) -> u64 {
        object / (self.page / self.object)
    }

    /// Bytes from the start of page `page` to the object, which lies in it or behind it.
    #[inline]
    pub(crate) fn bytes_from(&self, page: u64, object: u64) -> u64 {
        object.saturating_sub(page * (self.page / self.object)).saturating_mul(self.object)
    }
}

/// Units that are powers of two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shifts {
    page: u32,
    unit: u32,
}

impl Shifts {
    /// The page an object lies in.
    #[inline]
    pub(super) fn page_of(self, object: u64) -> u64 {
        object >> self.page
    }

    /// Bytes from the start of a run of pages to the object, of whose page so many come before.
    #[inline]
    pub(super) fn bytes_from(self, before: u8, object: u64) -> u64 {
        let into = object & ((1 << self.page) - 1);
        (u64::from(before) << self.page | into) << self.unit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_pages_and_offsets() {
        let units = Units::default();
        assert_eq!(units.page_of(1023), 0);
        assert_eq!(units.page_of(1024), 1);
        assert_eq!(units.bytes_from(1, 1026), 16);
        assert_eq!(units.bytes(3), 24_576);
        let shifts = units.shifts();
        assert_eq!((shifts.page_of(1023), shifts.page_of(1024)), (0, 1));
        assert_eq!(shifts.bytes_from(2, 1026), units.bytes_from(0, 2 * 1024 + 2));
    }

    #[test]
    fn units_that_divide_by_nothing_are_refused() {
        let info = |page_size, min_heap_align| Info {
            min_heap_address: 0,
            page_size,
            min_heap_align,
            min_stack_align: 0,
        };
        assert!(Units::new(&info(8192, 8)).is_some());
        for (page, align) in [(0, 8), (8192, 0), (8, 8192), (8192, 3)] {
            assert_eq!(Units::new(&info(page, align)), None);
        }
    }
}
