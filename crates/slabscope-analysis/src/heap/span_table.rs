//! Which span a page belongs to.
//!
//! A table answers for the first pages of each span, which is all of a small one and where the
//! object of a large one lies. An ordered map of starts answers for the rest and finds overlaps. So
//! a span of any length costs the same few entries.

use std::collections::BTreeMap;

use slab::Slab;

use super::page_map::PageMap;
use super::span::Span;

/// How many pages of a span the table knows.
const NEAR: u64 = 16;

/// The spans there are; no two overlap.
#[derive(Debug)]
pub(crate) struct SpanTable<T> {
    spans: Slab<Span<T>>,
    by_start: BTreeMap<u64, usize>,
    by_page: PageMap,
}

impl<T> Default for SpanTable<T> {
    fn default() -> Self {
        SpanTable { spans: Slab::new(), by_start: BTreeMap::new(), by_page: PageMap::default() }
    }
}

impl<T: Copy> SpanTable<T> {
    /// The span a page belongs to.
    #[inline]
    pub(crate) fn at_page(&mut self, page: u64) -> Option<&mut Span<T>> {
        let key = match self.by_page.get(page) {
            Some(key) => key as usize,
            None => self.far(page)?,
        };
        self.spans.get_mut(key)
    }

    #[cold]
    fn far(&self, page: u64) -> Option<usize> {
        let (_, &key) = self.by_start.range(..=page).next_back()?;
        self.spans.get(key).filter(|span| page < span.end()).map(|_| key)
    }

    /// A span that overlaps this run of pages.
    pub(crate) fn overlapping(&self, start: u64, end: u64) -> Option<u64> {
        let (&found, &key) = self.by_start.range(..end).next_back()?;
        self.spans.get(key).filter(|span| span.end() > start).map(|_| found)
    }

    /// Adds a span that overlaps none.
    pub(crate) fn insert(&mut self, span: Span<T>) {
        let (start, near) = (span.start, span.pages.min(NEAR));
        let key = self.spans.insert(span);
        self.by_start.insert(start, key);
        // More spans than that have no room in memory; `far` would find them.
        if let Ok(key) = u32::try_from(key) {
            (start..start + near).for_each(|page| self.by_page.set(page, key));
        }
    }

    /// Takes away the span that begins at this page.
    pub(crate) fn remove(&mut self, start: u64) -> Option<Span<T>> {
        let key = self.by_start.remove(&start)?;
        let span = self.spans.try_remove(key)?;
        for page in start..start + span.pages.min(NEAR) {
            self.by_page.clear(page);
        }
        Some(span)
    }

    /// All spans, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Span<T>> {
        self.spans.iter().map(|(_, span)| span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap::units::Units;

    fn span(start: u64, pages: u64) -> Span<u32> {
        Span::new(start, pages, 2, &Units::default()).unwrap()
    }

    #[test]
    fn near_and_far_pages_find_their_span() {
        let mut table = SpanTable::default();
        table.insert(span(10, 100));
        table.insert(span(110, 1));
        for (page, start) in [(10, 10), (25, 10), (26, 10), (109, 10), (110, 110)] {
            assert_eq!(table.at_page(page).map(|span| span.start), Some(start), "{page}");
        }
        assert!(table.at_page(9).is_none() && table.at_page(111).is_none());
        assert!(table.remove(11).is_none());
        assert_eq!(table.remove(10).map(|span| span.pages), Some(100));
        assert!(table.at_page(10).is_none() && table.at_page(60).is_none());
    }

    #[test]
    fn overlaps_are_found_from_every_side() {
        let mut table = SpanTable::default();
        table.insert(span(10, 5));
        for (start, end) in [(10, 15), (8, 11), (14, 20), (0, 100), (12, 13)] {
            assert_eq!(table.overlapping(start, end), Some(10), "{start}..{end}");
        }
        for (start, end) in [(0, 10), (15, 16)] {
            assert_eq!(table.overlapping(start, end), None, "{start}..{end}");
        }
    }
}
