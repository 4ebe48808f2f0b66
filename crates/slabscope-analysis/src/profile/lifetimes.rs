//! How long objects lived: a histogram of powers of two.

use serde::{Deserialize, Serialize};

/// The lifetimes of many objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lifetimes {
    count: u64,
    sum_ns: u64,
    max_ns: u64,
    /// How many have so many bits; as long as needed.
    by_bits: Vec<u64>,
}

/// How long the freed objects of a site lived.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Lifetime {
    /// How many objects these are.
    pub objects: u64,
    /// The mean, in nanoseconds.
    pub mean_ns: u64,
    /// Half of them lived no longer than this, to a power of two.
    pub half_ns: u64,
    /// Nine of ten lived no longer than this, to a power of two.
    pub nine_tenths_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

impl Lifetimes {
    /// Adds one object.
    #[inline]
    pub(crate) fn add(&mut self, ns: u64) {
        self.count += 1;
        self.sum_ns = self.sum_ns.saturating_add(ns);
        self.max_ns = self.max_ns.max(ns);
        let bits = (u64::BITS - ns.leading_zeros()) as usize;
        if bits >= self.by_bits.len() {
            self.by_bits.resize(bits + 1, 0);
        }
        self.by_bits[bits] += 1;
    }

    /// Adds others.
    pub(crate) fn append(&mut self, other: &Lifetimes) {
        self.count = self.count.saturating_add(other.count);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        let len = self.by_bits.len().max(other.by_bits.len());
        self.by_bits.resize(len, 0);
        for (count, more) in self.by_bits.iter_mut().zip(&other.by_bits) {
            *count = count.saturating_add(*more);
        }
    }

    /// The largest of its counts.
    pub(crate) fn most(&self) -> u64 {
        self.by_bits.iter().fold(self.count, |most, &count| most.max(count))
    }

    /// The figures; `None` where no object was freed.
    pub(crate) fn summary(&self) -> Option<Lifetime> {
        Some(Lifetime {
            objects: self.count,
            mean_ns: self.sum_ns.checked_div(self.count)?,
            half_ns: self.bound(self.count.div_ceil(2)),
            nine_tenths_ns: self.bound(self.count - self.count / 10),
            max_ns: self.max_ns,
        })
    }

    /// What so many of them lived no longer than.
    fn bound(&self, count: u64) -> u64 {
        let mut seen = 0;
        for (bits, &n) in self.by_bits.iter().enumerate() {
            seen = u64::saturating_add(seen, n);
            if seen >= count {
                let bound = 1_u64.checked_shl(bits as u32).map_or(u64::MAX, |power| power - 1);
                return bound.min(self.max_ns);
            }
        }
        self.max_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_powers_of_two_or_the_longest() {
        let mut lifetimes = Lifetimes::default();
        assert_eq!(lifetimes.summary(), None);
        for ns in [0, 5, 6, 7, 900] {
            lifetimes.add(ns);
        }
        let expected =
            Lifetime { objects: 5, mean_ns: 918 / 5, half_ns: 7, nine_tenths_ns: 900, max_ns: 900 };
        assert_eq!(lifetimes.summary(), Some(expected));
        let mut sum = Lifetimes::default();
        sum.add(1);
        sum.append(&lifetimes);
        assert_eq!((sum.count, sum.sum_ns, sum.bound(2)), (6, 919, 1));
        lifetimes.add(u64::MAX);
        assert_eq!(lifetimes.summary().unwrap().max_ns, u64::MAX);
    }
}
