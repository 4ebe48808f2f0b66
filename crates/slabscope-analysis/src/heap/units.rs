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
