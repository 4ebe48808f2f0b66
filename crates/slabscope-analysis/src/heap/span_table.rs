//! The spans, which of them a page belongs to, and what lies in their slots.
//!
//! A table answers for the first pages of each span, which is all of a small one and where the
//! object of a large one lies. An ordered map of starts answers for the rest and finds overlaps. So
//! a span of any length costs the same few entries.

use std::collections::BTreeMap;

use slab::Slab;

use super::page_map::{Page, PageMap};
use super::pool::Pool;
use super::slots::Slots;
use super::span::Span;
use super::units::{Shifts, Units};

/// How many pages of a span the table knows.
const NEAR: u64 = 16;

/// The spans there are; no two overlap.
#[derive(Debug)]
pub(super) struct SpanTable<T> {
    units: Units,
    shifts: Shifts,
    spans: Slab<Span<T>>,
    by_start: BTreeMap<u64, usize>,
    by_page: PageMap,
    pool: Pool<T>,
}

/// A slot that was found by its page alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Its number among all slots.
    pub(crate) number: u32,
    /// The size class of its span.
    pub(crate) class: u8,
}

impl<T: Copy> SpanTable<T> {
    pub(super) fn new(units: Units) -> SpanTable<T> {
        SpanTable {
            units,
            shifts: units.shifts(),
            spans: Slab::new(),
            by_start: BTreeMap::new(),
            by_page: PageMap::default(),
            pool: Pool::default(),
        }
    }

    /// The slot an object lies in, if it is of a size class. What is not found may be there all
    /// the same.
    #[inline]
    pub(super) fn slot_of(&self, object: u64) -> Option<Slot> {
        let page = self.by_page.get(self.shifts.page_of(object));
        let offset = self.shifts.bytes_from(page.before, object);
        let index = offset.wrapping_mul(u64::from(page.inverse)) >> 32;
        // Where it is less than the count, the stretch has such a slot.
        let number = page.base.wrapping_add(index as u32);
        (index < u64::from(page.count)).then_some(Slot { number, class: page.class })
    }

    /// The same slot, and what lies in it.
    #[inline]
    pub(super) fn quick(&mut self, object: u64) -> Option<(&mut Option<T>, u8)> {
        let slot = self.slot_of(object)?;
        Some((self.pool.slot(slot.number, 0)?, slot.class))
    }

    /// What lies in all slots.
    pub(super) fn slots(&mut self) -> &mut [Option<T>] {
        self.pool.all()
    }

    /// The number of the span that a page belongs to.
    pub(super) fn at_page(&self, page: u64) -> Option<usize> {
        match self.by_page.get(page).span {
            Page::NO_SPAN => self.far(page),
            span => Some(span as usize),
        }
    }

    fn far(&self, page: u64) -> Option<usize> {
        let (_, &number) = self.by_start.range(..=page).next_back()?;
        self.spans.get(number).filter(|span| page < span.end()).map(|_| number)
    }

    /// The span of this number.
    pub(super) fn get(&self, number: usize) -> Option<&Span<T>> {
        self.spans.get(number)
    }

    /// What lies in a slot of the span of this number.
    pub(super) fn object(&mut self, number: usize, slot: u64) -> Option<T> {
        self.spans.get(number)?.slots.get(slot, &mut self.pool)
    }

    /// Puts an object into a slot of the span of this number.
    pub(super) fn put(&mut self, number: usize, slot: u64, tag: T) {
        if let Some(span) = self.spans.get_mut(number) {
            span.slots.put(slot, tag, &mut self.pool);
        }
    }

    /// Takes the object out of a slot of the span of this number.
    pub(super) fn take(&mut self, number: usize, slot: u64) -> Option<T> {
        self.spans.get_mut(number)?.slots.take(slot, &mut self.pool)
    }

    /// A span that overlaps this run of pages.
    pub(super) fn overlapping(&self, start: u64, end: u64) -> Option<u64> {
        let (&found, &number) = self.by_start.range(..end).next_back()?;
        self.spans.get(number).filter(|span| span.end() > start).map(|_| found)
    }

    /// Adds a span that overlaps none; returns its number.
    pub(super) fn insert(&mut self, mut span: Span<T>) -> usize {
        let start = span.start;
        span.slots = Slots::free(span.slot_count, &mut self.pool);
        let number = self.spans.insert(span);
        self.by_start.insert(start, number);
        self.note(number);
        number
    }

    /// Tells the page table of a span.
    fn note(&mut self, number: usize) {
        let Some(span) = self.spans.get(number) else { return };
        // More spans than that have no room in memory; `far` would find them.
        let Ok(number) = u32::try_from(number) else { return };
        let page = span.page(number, &self.units);
        for before in 0..span.pages.min(NEAR) {
            self.by_page.set(span.start + before, Page { before: before as u8, ..page });
        }
    }

    /// Takes away the span that begins at this page, with what lies in it.
    pub(super) fn remove(&mut self, start: u64) -> Option<(Span<T>, Vec<T>)> {
        let number = self.by_start.remove(&start)?;
        let span = self.spans.try_remove(number)?;
        for page in start..start + span.pages.min(NEAR) {
            self.by_page.clear(page);
        }
        let objects = span.slots.all(span.slot_count, &self.pool).map(|(_, tag)| tag).collect();
        if let Slots::Dense(base) = span.slots {
            self.pool.give_back(base, span.slot_count as usize);
        }
        Some((span, objects))
    }

    /// The same spans, and slots of the same numbers, with nothing in them.
    pub(super) fn emptied<U: Copy>(&self) -> SpanTable<U> {
        SpanTable {
            units: self.units,
            shifts: self.shifts,
            spans: self.spans.iter().map(|(number, span)| (number, span.emptied())).collect(),
            by_start: self.by_start.clone(),
            by_page: self.by_page.clone(),
            pool: self.pool.emptied(),
        }
    }

    /// All spans, in no order, with their objects by slot.
    pub(super) fn iter(&self) -> impl Iterator<Item = SpanView<'_, T>> {
        self.spans.iter().map(|(_, span)| SpanView { span, pool: &self.pool })
    }
}

/// A span and what lies in it.
#[derive(Debug)]
pub(crate) struct SpanView<'a, T> {
    /// The span.
    pub(crate) span: &'a Span<T>,
    pool: &'a Pool<T>,
}

impl<'a, T: Copy> SpanView<'a, T> {
    /// Its objects, by slot.
    pub(crate) fn objects(&self) -> impl Iterator<Item = (u64, T)> + use<'a, T> {
        self.span.slots.all(self.span.slot_count, self.pool)
    }

    /// How many objects lie in it.
    pub(crate) fn live(&self) -> u64 {
        self.objects().count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u64, pages: u64) -> Span<u32> {
        Span::new(start, pages, 2, &Units::default()).unwrap()
    }

    #[test]
    fn near_and_far_pages_find_their_span() {
        let mut table = SpanTable::new(Units::default());
        table.insert(span(10, 100));
        table.insert(span(110, 1));
        let start = |table: &SpanTable<u32>, page| {
            table.at_page(page).and_then(|number| table.get(number)).map(|span| span.start)
        };
        for (page, expected) in [(10, 10), (25, 10), (26, 10), (109, 10), (110, 110)] {
            assert_eq!(start(&table, page), Some(expected), "{page}");
        }
        assert!(table.at_page(9).is_none() && table.at_page(111).is_none());
        assert!(table.remove(11).is_none());
        assert_eq!(table.remove(10).map(|(span, _)| span.pages), Some(100));
        assert!(table.at_page(10).is_none() && table.at_page(60).is_none());
    }

    #[test]
    fn overlaps_are_found_from_every_side() {
        let mut table = SpanTable::new(Units::default());
        table.insert(span(10, 5));
        for (start, end) in [(10, 15), (8, 11), (14, 20), (0, 100), (12, 13)] {
            assert_eq!(table.overlapping(start, end), Some(10), "{start}..{end}");
        }
        for (start, end) in [(0, 10), (15, 16)] {
            assert_eq!(table.overlapping(start, end), None, "{start}..{end}");
        }
    }

    #[test]
    fn the_short_way_finds_what_the_long_one_put() {
        let mut table = SpanTable::new(Units::default());
        // Slots of 48 bytes, six units.
        assert!(table.quick(3 * 1024).is_none());
        let number = table.insert(Span::new(3, 1, 5 << 2, &Units::default()).unwrap());
        table.put(number, 1, 77_u32);
        let found = |table: &mut SpanTable<u32>, object| {
            table.quick(object).map(|(slot, class)| (*slot, class))
        };
        assert_eq!(found(&mut table, 3 * 1024 + 7), Some((Some(77), 5)));
        assert_eq!(found(&mut table, 3 * 1024), Some((None, 5)));
        // Behind the last slot, and in the next page.
        assert_eq!(found(&mut table, 3 * 1024 + 1020), None);
        assert_eq!(found(&mut table, 4 * 1024), None);
    }
}
