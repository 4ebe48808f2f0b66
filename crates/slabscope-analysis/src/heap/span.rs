//! A span: a run of pages, and the slots in it.

use slabscope_wire::alloc_free::class_of_kindclass;
use slabscope_wire::size_class::{self, SizeClass};

use super::page_map::Page;
use super::slots::{DENSE_MAX, Slots};
use super::units::Units;

/// What a span holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpanKind {
    /// Objects of a size class.
    Small(SizeClass),
    /// One large object.
    Large,
    /// No objects of the heap: stacks and the like.
    Other,
    /// A size class this program does not know.
    Unknown,
}

impl SpanKind {
    /// What the number in an event stands for.
    pub(crate) fn new(kindclass: u64) -> SpanKind {
        if kindclass & 1 == 1 {
            return SpanKind::Other;
        }
        match class_of_kindclass(kindclass) {
            Some(SizeClass::LARGE) => SpanKind::Large,
            Some(class) => SpanKind::Small(class),
            None => SpanKind::Unknown,
        }
    }
}

/// The kindclass of the spans in which Go's tiny allocator packs several objects into a slot: size
/// class 2, free of pointers.
const TINY: u64 = 2 << 2 | 2;

/// A run of pages.
#[derive(Debug)]
pub(crate) struct Span<T> {
    /// First page.
    pub(crate) start: u64,
    /// How many.
    pub(crate) pages: u64,
    /// What it holds.
    pub(crate) kind: SpanKind,
    /// Whether Go's tiny allocator may use it.
    pub(crate) is_tiny: bool,
    /// Bytes of a slot; 0 where it has none.
    pub(crate) slot_bytes: u64,
    /// How many slots it has.
    pub(crate) slot_count: u64,
    /// What is in them.
    pub(super) slots: Slots<T>,
}

/// A division by a slot's size is a multiplication by its inverse for offsets below this: the inverse
/// times the size is less than the size above 2^32, so the product is exact while offset times size
/// is below 2^32.
const INVERSE_OFFSETS: u64 = 1 << 17;

const _: () = assert!(INVERSE_OFFSETS * size_class::SIZE_MAX as u64 <= 1 << 32);

impl<T: Copy> Span<T> {
    /// An empty span. `None` when it has no pages or ends beyond any address.
    pub(crate) fn new(start: u64, pages: u64, kindclass: u64, units: &Units) -> Option<Span<T>> {
        let end = start.checked_add(pages)?;
        if pages == 0 || end > units.page_end() {
            return None;
        }
        let kind = SpanKind::new(kindclass);
        let bytes = units.bytes(pages);
        let (slot_bytes, slot_count) = match kind {
            SpanKind::Small(class) => {
                let slot = class.slot_size() as u64;
                (slot, bytes / slot)
            }
            SpanKind::Large => (bytes, 1),
            SpanKind::Other | SpanKind::Unknown => (0, 0),
        };
        let (is_tiny, slots) = (kindclass == TINY, Slots::none());
        Some(Span { start, pages, kind, is_tiny, slot_bytes, slot_count, slots })
    }

    /// The same span with nothing in it.
    pub(super) fn emptied<U: Copy>(&self) -> Span<U> {
        let Span { start, pages, kind, is_tiny, slot_bytes, slot_count, .. } = *self;
        let slots = match self.slots {
            Slots::Dense(base) => Slots::Dense(base),
            Slots::Sparse(_) => Slots::none(),
        };
        Span { start, pages, kind, is_tiny, slot_bytes, slot_count, slots }
    }

    /// A kindclass that makes such a span.
    pub(super) fn kindclass(&self) -> u64 {
        match self.kind {
            _ if self.is_tiny => TINY,
            SpanKind::Small(class) => (class.index() as u64) << 2,
            SpanKind::Large => 0,
            SpanKind::Other => 1,
            SpanKind::Unknown => u64::from(u8::MAX) << 2,
        }
    }

    /// The first page behind it.
    pub(crate) fn end(&self) -> u64 {
        self.start + self.pages
    }

    /// The slot that so many bytes from its start lie in, if they lie in one.
    #[inline]
    pub(crate) fn slot_at(&self, offset: u64) -> Option<u64> {
        let index = offset.checked_div(self.slot_bytes)?;
        (index < self.slot_count).then_some(index)
    }

    /// What the page table should know of the span, whose number is `number`: enough to find slots
    /// by a multiplication where that does.
    pub(super) fn page(&self, number: u32, units: &Units) -> Page {
        let page = Page { span: number, ..Page::NONE };
        let bytes = units.bytes(self.pages);
        match (self.kind, &self.slots) {
            (SpanKind::Small(class), Slots::Dense(base))
                if bytes <= INVERSE_OFFSETS
                    && self.slot_count <= DENSE_MAX
                    && units.are_powers() =>
            {
                Page {
                    base: *base,
                    inverse: (1_u64 << 32).div_ceil(self.slot_bytes) as u32,
                    count: self.slot_count as u16,
                    class: class.index() as u8,
                    ..page
                }
            }
            _ => page,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_follow_the_number() {
        let class = SizeClass::new(5).unwrap();
        assert_eq!(SpanKind::new(5 << 2), SpanKind::Small(class));
        assert_eq!(SpanKind::new(5 << 2 | 2), SpanKind::Small(class));
        assert_eq!(SpanKind::new(2), SpanKind::Large);
        assert_eq!(SpanKind::new(1), SpanKind::Other);
        assert_eq!(SpanKind::new(68 << 2), SpanKind::Unknown);
    }

    #[test]
    fn the_end_of_a_span_has_no_slot() {
        let units = Units::default();
        // Slots of 48 bytes: 170 fit a page and 32 bytes stay.
        let span = Span::<u32>::new(4, 1, 5 << 2, &units).unwrap();
        assert_eq!((span.slot_bytes, span.slot_count), (48, 170));
        assert_eq!(span.slot_at(47), Some(0));
        assert_eq!(span.slot_at(48), Some(1));
        assert_eq!(span.slot_at(8159), Some(169));
        assert_eq!(span.slot_at(8160), None);
        assert_eq!(Span::<u32>::new(4, 3, 2, &units).unwrap().slot_at(20_000), Some(0));
        assert_eq!(Span::<u32>::new(4, 1, 1, &units).unwrap().slot_at(0), None);
    }

    #[test]
    fn a_multiplication_finds_the_slot_a_division_would() {
        let mut visited = 0;
        for class in SizeClass::all() {
            let kindclass = (class.index() as u64) << 2;
            let pages = 16.min(DENSE_MAX * class.slot_size() as u64 / 8192);
            let mut span = Span::<u32>::new(0, pages, kindclass, &Units::default()).unwrap();
            span.slots = Slots::Dense(3);
            let page = span.page(9, &Units::default());
            assert_eq!((page.span, page.base, page.count > 0), (9, 3, true), "{class:?}");
            for offset in 0..pages * 8192 {
                let index = (offset * u64::from(page.inverse)) >> 32;
                let found = (index < u64::from(page.count)).then_some(index);
                assert_eq!(span.slot_at(offset), found, "{class:?} {offset}");
                visited += 1;
            }
        }
        assert!(visited > 67 * 8192);
    }

    #[test]
    fn spans_beyond_any_address_are_refused() {
        let units = Units::default();
        assert!(Span::<u32>::new(units.page_end() - 1, 1, 2, &units).is_some());
        for (start, pages) in [(0, 0), (units.page_end(), 1), (u64::MAX, 1), (1, u64::MAX)] {
            assert!(Span::<u32>::new(start, pages, 2, &units).is_none());
        }
    }
}
