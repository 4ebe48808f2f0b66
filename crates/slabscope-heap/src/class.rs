//! Which size class serves a size at an alignment.

use slabscope_wire::size_class::{COUNT, SIZE_MAX, SizeClass};

use crate::PAGE_SIZE;

/// The class whose slots hold `size` bytes at `align`; `None` for an object with a span of its own.
///
/// Slots lie at multiples of their size from a page boundary, so a slot size that the alignment
/// divides is aligned.
#[inline(always)]
pub(crate) const fn class_of(size: usize, align: usize) -> Option<SizeClass> {
    if align <= 8 { SizeClass::of_size(size) } else { class_aligned(size, align) }
}

/// As [`class_of`], for alignments up to [`ALIGN_PLAIN`](crate::ALIGN_PLAIN); `None` says nothing of others.
#[inline(always)]
pub(crate) fn class_plain(size: usize) -> Option<SizeClass> {
    if size > SIZE_MAX {
        return None;
    }
    CLASSES.get((size + 7) >> 3).copied()
}

/// Classes by eighths of the size, in one table, so that all sizes take the same few instructions. A
/// constant: the compiler reaches a static of another crate by way of one more load.
const CLASSES: &[SizeClass; SIZE_MAX / 8 + 1] = &{
    let mut classes = [SizeClass::LARGE; SIZE_MAX / 8 + 1];
    let mut index = 0;
    while index < classes.len() {
        if let Some(class) = SizeClass::of_size(index * 8) {
            classes[index] = class;
        }
        index += 1;
    }
    classes
};

/// As [`class_of`], for alignments above that of every slot.
#[inline(never)]
const fn class_aligned(size: usize, align: usize) -> Option<SizeClass> {
    if align > PAGE_SIZE || size > SIZE_MAX {
        return None;
    }
    // Every class from 32 bytes on is a multiple of 16, and so is the one of 16 itself.
    if align == 16 {
        return SizeClass::of_size((size.saturating_sub(1) | 15) + 1);
    }
    let mut class = SizeClass::of_size(if size < align { align } else { size });
    // The last class is a multiple of the page size, so the search ends.
    while let Some(candidate) = class {
        if candidate.slot_size() & (align - 1) == 0 {
            return class;
        }
        class = SizeClass::new(candidate.index() as u8 + 1);
    }
    None
}

/// How many bytes an object of `size` bytes at `align` takes: its slot, or whole pages.
#[inline]
pub const fn slot_size(size: usize, align: usize) -> usize {
    match class_of(size, align) {
        Some(class) => class.slot_size(),
        None => match size {
            0 => PAGE_SIZE,
            size => size.saturating_add(PAGE_SIZE - 1) & !(PAGE_SIZE - 1),
        },
    }
}

/// As [`slot_size`], of a size that is not [too long](crate::Heap::has_own_span) at alignments up to
/// [`ALIGN_PLAIN`](crate::ALIGN_PLAIN); else 0.
#[inline(always)]
pub fn slot_size_plain(size: usize) -> usize {
    class_plain(size).map_or(0, SizeClass::slot_size)
}

/// For each class a number that multiplication divides by: the least above 2^32 over the slot size.
const RECIPROCALS: [u32; COUNT] = {
    let mut reciprocals = [0; COUNT];
    let mut index = 1;
    while index < COUNT {
        if let Some(class) = SizeClass::new(index as u8) {
            reciprocals[index] = ((1 << 32) / class.slot_size() + 1) as u32;
        }
        index += 1;
    }
    reciprocals
};

/// Which slot of a span of `class` begins at `offset` bytes; `None` if none does.
#[inline]
pub(crate) fn slot_at(offset: usize, class: SizeClass) -> Option<u32> {
    let reciprocal = RECIPROCALS.get(class.index()).copied().unwrap_or_default();
    // Right for every multiple of the slot size that lies in a span, and it is tried on the others.
    let index = (u64::from(offset as u32) * u64::from(reciprocal)) >> 32;
    (index as usize * class.slot_size() == offset).then_some(index as u32)
}

/// Pages of a span of each class.
const PAGES: [u32; COUNT] = {
    let mut pages = [0; COUNT];
    let mut index = 1;
    while index < COUNT {
        if let Some(class) = SizeClass::new(index as u8) {
            pages[index] = class.span_pages() as u32;
        }
        index += 1;
    }
    pages
};

/// How many pages a span of `class` has.
#[inline]
pub(crate) fn pages_of_span(class: SizeClass) -> u32 {
    PAGES.get(class.index()).copied().unwrap_or_default()
}

/// Slots of a span of each class.
const SLOTS: [u32; COUNT] = {
    let mut slots = [0; COUNT];
    let mut index = 1;
    while index < COUNT {
        if let Some(class) = SizeClass::new(index as u8) {
            slots[index] = (class.span_pages() * PAGE_SIZE / class.slot_size()) as u32;
        }
        index += 1;
    }
    slots
};

/// How many slots a span of `class` has.
#[inline]
pub(crate) fn slots_of(class: SizeClass) -> u32 {
    SLOTS.get(class.index()).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_and_alignment_gets_a_slot_that_fits() {
        for log in 0..=13 {
            let align = 1 << log;
            for size in 0..=SIZE_MAX {
                let class = class_of(size, align).unwrap();
                assert!(class.slot_size() >= size);
                assert_eq!(class.slot_size() % align.max(8), 0, "size {size} at {align}");
            }
        }
        for size in 0..SIZE_MAX + 100 {
            assert_eq!(class_plain(size), class_of(size, 8));
            assert!(class_plain(size).is_none() || slot_size_plain(size) == slot_size(size, 8));
        }
        assert_eq!(class_plain(usize::MAX), None);
        assert_eq!(class_of(8, 16_384), None);
        assert_eq!(class_of(SIZE_MAX + 1, 1), None);
    }

    #[test]
    fn slots_are_found_and_what_lies_between_is_none() {
        for class in SizeClass::all() {
            let size = class.slot_size();
            for offset in 0..pages_of_span(class) as usize * PAGE_SIZE {
                let expected = offset.is_multiple_of(size).then_some((offset / size) as u32);
                assert_eq!(slot_at(offset, class), expected, "{size} {offset}");
            }
            assert_eq!(slot_at(size << 32, class), None);
        }
    }

    #[test]
    fn large_objects_take_whole_pages() {
        assert_eq!(slot_size(SIZE_MAX + 1, 8), 40_960);
        assert_eq!(slot_size(0, 1 << 20), 8192);
        assert_eq!(slot_size(usize::MAX, 8) % 8192, 0);
        assert_eq!(slot_size(24, 8), 24);
        assert_eq!(slot_size(24, 16), 32);
    }
}
