//! Go's size classes, which both the heap and every reader of its traces go by.
//!
//! A trace names the class of a span and not its slot size, so the table is part of the format.

/// How many classes there are, class 0 (one object that fills its span) included.
pub const COUNT: usize = 68;

/// The largest object that has a class of its own, in bytes.
pub const SIZE_MAX: usize = 32_768;

/// Slot sizes in bytes, by class; class 0 has none.
const SIZES: [u16; COUNT] = [
    0, 8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256, 288, 320,
    352, 384, 416, 448, 480, 512, 576, 640, 704, 768, 896, 1024, 1152, 1280, 1408, 1536, 1792,
    2048, 2304, 2688, 3072, 3200, 3456, 4096, 4864, 5376, 6144, 6528, 6784, 6912, 8192, 9472, 9728,
    10240, 10880, 12288, 13568, 14336, 16384, 18432, 19072, 20480, 21760, 24576, 27264, 28672,
    32768,
];

/// Classes of sizes up to 1,024 bytes, by (size + 7) / 8.
const SMALL: [u8; 129] = class_by_step::<129>(0, 8);

/// Classes of sizes above 1,024 bytes, by (size - 1,024 + 127) / 128.
const MEDIUM: [u8; 249] = class_by_step::<249>(1024, 128);

const fn class_by_step<const N: usize>(start: usize, step: usize) -> [u8; N] {
    let mut table = [0; N];
    let mut index = 0;
    let mut class = 1;
    while index < N {
        while (SIZES[class] as usize) < start + index * step {
            class += 1;
        }
        table[index] = class as u8;
        index += 1;
    }
    table
}

/// A size class: 0 for spans of a single large object, 1 to 67 for slots of a fixed size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SizeClass(u8);

impl SizeClass {
    /// The class of spans that hold one large object.
    pub const LARGE: SizeClass = SizeClass(0);

    /// The class with this number, if there is one.
    pub const fn new(index: u8) -> Option<Self> {
        if (index as usize) < COUNT { Some(SizeClass(index)) } else { None }
    }

    /// The smallest class whose slots hold `size` bytes; `None` above [`SIZE_MAX`].
    ///
    /// A size of 0 gets the smallest slot.
    #[inline]
    pub const fn of_size(size: usize) -> Option<Self> {
        if size <= 1024 {
            Some(SizeClass(SMALL[(size + 7) >> 3]))
        } else if size <= SIZE_MAX {
            Some(SizeClass(MEDIUM[(size - 1024 + 127) >> 7]))
        } else {
            None
        }
    }

    /// The class's number, below [`COUNT`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Slot size in bytes; 0 for the large class.
    #[inline]
    pub const fn slot_size(self) -> usize {
        // `self.0` is below COUNT by construction.
        SIZES[self.0 as usize] as usize
    }

    /// Pages of a span of this class: the fewest that waste at most an eighth at the end.
    ///
    /// 0 for the large class, whose spans have any number.
    pub const fn span_pages(self) -> usize {
        let size = self.slot_size();
        if size == 0 {
            return 0;
        }
        let page = crate::alloc_free::PAGE_SIZE as usize;
        let mut bytes = page;
        while bytes % size > bytes / 8 {
            bytes += page;
        }
        bytes / page
    }

    /// All classes with slots, smallest first.
    pub fn all() -> impl Iterator<Item = SizeClass> {
        (1..COUNT as u8).map(SizeClass)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_gets_the_smallest_class_that_holds_it() {
        let mut visited = 0;
        for size in 0..=SIZE_MAX {
            let class = SizeClass::of_size(size).unwrap();
            let smallest = SizeClass::all().find(|c| c.slot_size() >= size).unwrap();
            assert_eq!(class, smallest, "size {size}");
            visited += 1;
        }
        assert_eq!(visited, SIZE_MAX + 1);
        assert_eq!(SizeClass::of_size(SIZE_MAX + 1), None);
        assert_eq!(SizeClass::all().count(), COUNT - 1);
    }

    #[test]
    fn spans_waste_at_most_an_eighth() {
        for class in SizeClass::all() {
            let bytes = class.span_pages() * 8192;
            assert!(bytes / class.slot_size() >= 1);
            assert!(bytes % class.slot_size() <= bytes / 8, "{class:?}");
        }
    }
}
