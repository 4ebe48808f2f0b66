//! The sort of Go's library, which does not keep the order of what is equal.
//!
//! It is a pattern-defeating quicksort. Nothing in it is left to chance, so equal times come to lie where
//! Go's reader has them if every comparison and every exchange is made as there.

/// Up to this many are sorted by insertion, which keeps the order of what is equal.
const INSERTION_MAX: usize = 12;

/// From this many on a pivot is the median of nine.
const NINE_MIN: usize = 50;

/// Exchanges in looking for a median of nine if all are in falling order.
const SWAPS_MAX: usize = 12;

/// How often a nearly sorted range is mended before it is called unsorted.
const MENDS_MAX: usize = 5;

/// Sorts by a time; where these are equal the order is that of Go's `slices.SortFunc`.
pub(super) fn sort<T>(items: &mut [T], is_less: impl Fn(&T, &T) -> bool) {
    let len = items.len();
    let limit = usize::BITS - len.leading_zeros();
    Sort { items, is_less }.range(0, len, limit);
}

struct Sort<'a, T, F> {
    items: &'a mut [T],
    is_less: F,
}

/// What looking for a pivot told of a range.
#[derive(Clone, Copy, PartialEq)]
enum Hint {
    Rising,
    Falling,
    Unknown,
}

impl<T, F: Fn(&T, &T) -> bool> Sort<'_, T, F> {
    fn less(&self, one: usize, other: usize) -> bool {
        (self.is_less)(&self.items[one], &self.items[other])
    }

    /// Sorts from `begin` to `end`; `limit` bad pivots are borne with.
    fn range(&mut self, mut begin: usize, mut end: usize, mut limit: u32) {
        let (mut is_balanced, mut is_partitioned) = (true, true);
        loop {
            let len = end - begin;
            if len <= INSERTION_MAX {
                return self.by_insertion(begin, end);
            }
            if limit == 0 {
                return self.by_heap(begin, end);
            }
            if !is_balanced {
                self.scatter(begin, end);
                limit -= 1;
            }
            let (mut pivot, mut hint) = self.pivot(begin, end);
            if hint == Hint::Falling {
                self.items[begin..end].reverse();
                pivot = (end - 1) - (pivot - begin);
                hint = Hint::Rising;
            }
            let may_be_sorted = is_balanced && is_partitioned && hint == Hint::Rising;
            if may_be_sorted && self.mend(begin, end) {
                return;
            }
            // What lies before the range is no later: is the pivot one of many that are equal?
            if begin > 0 && !self.less(begin - 1, pivot) {
                begin = self.split_equal(begin, end, pivot);
                continue;
            }
            let middle;
            (middle, is_partitioned) = self.split(begin, end, pivot);
            let (left, right) = (middle - begin, end - middle);
            is_balanced = left.min(right) >= len / 8;
            if left < right {
                self.range(begin, middle, limit);
                begin = middle + 1;
            } else {
                self.range(middle + 1, end, limit);
                end = middle;
            }
        }
    }

    fn by_insertion(&mut self, begin: usize, end: usize) {
        for next in begin + 1..end {
            self.sink(next, begin);
        }
    }

    /// Moves an item before those that it is less than, down to `begin`.
    fn sink(&mut self, mut at: usize, begin: usize) {
        while at > begin && self.less(at, at - 1) {
            self.items.swap(at, at - 1);
            at -= 1;
        }
    }

    fn by_heap(&mut self, begin: usize, end: usize) {
        let len = end - begin;
        for root in (0..=(len - 1) / 2).rev() {
            self.sift(root, len, begin);
        }
        for last in (0..len).rev() {
            self.items.swap(begin, begin + last);
            self.sift(0, last, begin);
        }
    }

    fn sift(&mut self, mut root: usize, len: usize, begin: usize) {
        loop {
            let mut child = 2 * root + 1;
            if child >= len {
                return;
            }
            if child + 1 < len && self.less(begin + child, begin + child + 1) {
                child += 1;
            }
            if !self.less(begin + root, begin + child) {
                return;
            }
            self.items.swap(begin + root, begin + child);
            root = child;
        }
    }

    /// Puts the pivot where it belongs, what is less before it and the rest behind; returns that place, and
    /// whether nothing had to be exchanged.
    fn split(&mut self, begin: usize, end: usize, pivot: usize) -> (usize, bool) {
        self.items.swap(begin, pivot);
        let (mut low, mut high) = (begin + 1, end - 1);
        let mut exchanged = false;
        loop {
            while low <= high && self.less(low, begin) {
                low += 1;
            }
            while low <= high && !self.less(high, begin) {
                high -= 1;
            }
            if low > high {
                break;
            }
            self.items.swap(low, high);
            exchanged = true;
            low += 1;
            high -= 1;
        }
        self.items.swap(high, begin);
        (high, !exchanged)
    }

    /// Puts what is equal to the pivot first, where nothing is less; returns where the rest begins.
    fn split_equal(&mut self, begin: usize, end: usize, pivot: usize) -> usize {
        self.items.swap(begin, pivot);
        let (mut low, mut high) = (begin + 1, end - 1);
        loop {
            while low <= high && !self.less(begin, low) {
                low += 1;
            }
            while low <= high && self.less(begin, high) {
                high -= 1;
            }
            if low > high {
                return low;
            }
            self.items.swap(low, high);
            low += 1;
            high -= 1;
        }
    }

    /// Sorts a range where little is out of order; `false` where that is too much.
    fn mend(&mut self, begin: usize, end: usize) -> bool {
        let mut next = begin + 1;
        for _ in 0..MENDS_MAX {
            while next < end && !self.less(next, next - 1) {
                next += 1;
            }
            if next == end {
                return true;
            }
            if end - begin < NINE_MIN {
                return false;
            }
            self.items.swap(next, next - 1);
            if next - begin >= 2 {
                // Beyond the range, as there; what lies there is no later.
                self.sink(next - 1, 0);
            }
            let mut at = next + 1;
            while end - next >= 2 && at < end && self.less(at, at - 1) {
                self.items.swap(at, at - 1);
                at += 1;
            }
        }
        false
    }

    /// Puts three from anywhere into the middle, so that no pattern makes bad pivots for ever.
    fn scatter(&mut self, begin: usize, end: usize) {
        let len = end - begin;
        let mask = (1_u64 << (usize::BITS - len.leading_zeros())) - 1;
        let mut random = len as u64;
        let middle = begin + len / 4 * 2;
        for at in middle - 1..=middle + 1 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let other = (random & mask) as usize;
            let other = if other >= len { other - len } else { other };
            self.items.swap(at, begin + other);
        }
    }

    /// A median of three, or of nine.
    fn pivot(&self, begin: usize, end: usize) -> (usize, Hint) {
        let len = end - begin;
        let mut swaps = 0;
        let mut places = [1, 2, 3].map(|quarters| begin + len / 4 * quarters);
        if len >= NINE_MIN {
            places = places.map(|at| self.median([at - 1, at, at + 1], &mut swaps));
        }
        let pivot = self.median(places, &mut swaps);
        let hint = match swaps {
            0 => Hint::Rising,
            SWAPS_MAX => Hint::Falling,
            _ => Hint::Unknown,
        };
        (pivot, hint)
    }

    fn median(&self, [mut one, mut two, mut three]: [usize; 3], swaps: &mut usize) -> usize {
        let mut order = |one: &mut usize, other: &mut usize| {
            if self.less(*other, *one) {
                *swaps += 1;
                std::mem::swap(one, other);
            }
        };
        order(&mut one, &mut two);
        order(&mut two, &mut three);
        order(&mut one, &mut two);
        two
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// Keys as the test below and a program of Go make them, in several patterns.
    fn keys(len: usize, pattern: usize, seed: &mut u64) -> Vec<u64> {
        let mut random = || {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *seed >> 33
        };
        (0..len as u64)
            .map(|n| match pattern {
                0 => random() % 4,
                1 => random() % len as u64,
                2 => n / 5,
                3 => (len as u64 - n) / 3,
                4 => n / 2 + u64::from(random() % 16 == 0) * 7,
                5 => (n * 7) % 11,
                6 => n.min(len as u64 - n),
                _ => random(),
            })
            .collect()
    }

    /// Both hashes are what `slices.SortFunc` of Go 1.27.3 makes of the same items.
    const OF_PATTERNS: u64 = 0x1fa3_bc16_8c40_1d7f;
    const OF_ADVERSARY: u64 = 0xd982_1fe4_1cbd_c409;

    fn hashed(hash: u64, places: impl IntoIterator<Item = u64>) -> u64 {
        places.into_iter().fold(hash, |hash, place| (hash ^ place).wrapping_mul(0x100_0000_01b3))
    }

    #[test]
    fn all_come_to_lie_where_go_has_them() {
        let (mut seed, mut hash, mut moved) = (1, 0xcbf2_9ce4_8422_2325, 0);
        for len in (0..200).chain([500, 1_000, 5_000]) {
            for pattern in 0..8 {
                let keys = keys(len, pattern, &mut seed);
                let mut items: Vec<_> = keys.into_iter().zip(0_u64..).collect();
                let mut stable = items.clone();
                stable.sort_by_key(|item| item.0);
                sort(&mut items, |one, other| one.0 < other.0);
                assert!(items.is_sorted_by_key(|item| item.0), "{len} {pattern}");
                moved += usize::from(items != stable);
                hash = hashed(hash, items.into_iter().map(|item| item.1));
            }
        }
        assert!(moved > 500, "a stable sort would do as well: {moved}");
        assert_eq!(hash, OF_PATTERNS);
    }

    /// McIlroy's adversary decides what is less as late as it can, so that every pivot is a bad one: what it
    /// ends with depends on each comparison, and the heap is reached.
    #[test]
    fn every_comparison_is_that_of_go() {
        let mut hash = 0xcbf2_9ce4_8422_2325;
        for len in [100, 300, 1_000] {
            let state = RefCell::new((vec![len; len], 0, 0));
            let mut items: Vec<_> = (0..len).collect();
            sort(&mut items, |&one, &other| {
                let (values, solid, candidate) = &mut *state.borrow_mut();
                if values[one] == len && values[other] == len {
                    values[if one == *candidate { one } else { other }] = *solid;
                    *solid += 1;
                }
                if values[one] == len {
                    *candidate = one;
                } else if values[other] == len {
                    *candidate = other;
                }
                values[one] < values[other]
            });
            hash = hashed(hash, items.into_iter().map(|place| place as u64));
        }
        assert_eq!(hash, OF_ADVERSARY);
    }
}
