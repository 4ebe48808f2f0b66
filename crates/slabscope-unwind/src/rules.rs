//! The rules of all modules, for any thread to look up at any moment.
//!
//! A module's table is published once and never changes or goes away; while the module is not loaded
//! its range is empty. In front of the tables lies a cache of single addresses. A word of it holds an
//! address and its rule, so it is whole or it is another's.

use core::ptr::null_mut;
use core::slice;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::rule::{self, Rule};
use crate::table::Table;

/// Modules that tables are kept of.
pub(crate) const MODULES_MAX: usize = 512;

/// Words of the cache, as a power of two.
const CACHE_BITS: u32 = 14;

/// Bits of an address of a program.
const ADDRESS_BITS: u32 = 47;

/// Bits of a mixed address that a cached word keeps; the others are its place.
const TAG_BITS: u32 = ADDRESS_BITS - CACHE_BITS;

const _: () = assert!(TAG_BITS + rule::BITS == u64::BITS);

/// One module's range and rules.
struct Slot {
    first: AtomicUsize,
    /// 0 while the module is not loaded. Release on writing and acquire on reading: who sees it
    /// sees the rest.
    end: AtomicUsize,
    rows: AtomicPtr<u64>,
    len: AtomicUsize,
}

/// See the module.
pub(crate) struct Rules {
    slots: [Slot; MODULES_MAX],
    count: AtomicUsize,
    /// `[mixed address, low bits : 33 | rule : 31]`; 0 for nothing. Relaxed: the word is all there is.
    cache: [AtomicU64; 1 << CACHE_BITS],
    /// How often modules have changed. Sequentially consistent with the cache's words, so that
    /// whoever looked up an old table takes back what it put there.
    epoch: AtomicU32,
    /// How often a module has taken the place of another.
    era: AtomicU32,
    /// An address that no module has, for somebody to look into; 0 for none.
    unknown: AtomicUsize,
}

/// An address spread over its bits: odd, so no two become one.
#[inline(always)]
pub(crate) fn mix(address: usize) -> u64 {
    (address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Where a mixed address belongs in the cache.
#[inline(always)]
fn place(mixed: u64) -> usize {
    (mixed >> TAG_BITS) as usize & ((1 << CACHE_BITS) - 1)
}

/// The word of a mixed address with this rule.
#[inline(always)]
pub(crate) fn word(mixed: u64, rule: Rule) -> u64 {
    mixed << rule::BITS | u64::from(rule.bits())
}

impl Rules {
    pub(crate) const fn new() -> Self {
        Rules {
            slots: [const {
                Slot {
                    first: AtomicUsize::new(0),
                    end: AtomicUsize::new(0),
                    rows: AtomicPtr::new(null_mut()),
                    len: AtomicUsize::new(0),
                }
            }; MODULES_MAX],
            count: AtomicUsize::new(0),
            cache: [const { AtomicU64::new(0) }; 1 << CACHE_BITS],
            epoch: AtomicU32::new(0),
            era: AtomicU32::new(0),
            unknown: AtomicUsize::new(0),
        }
    }

    /// The rule at `address`, whose [`mix`] is given.
    #[inline(always)]
    pub(crate) fn find(&self, address: usize, mixed: u64) -> Rule {
        self.find_from(self.cached(mixed), address, mixed)
    }

    /// What the cache has where a mixed address belongs: its word, another's, or 0.
    #[inline(always)]
    pub(crate) fn cached(&self, mixed: u64) -> u64 {
        self.cache.get(place(mixed)).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// As [`Rules::find`], where the cache had this word.
    #[inline(always)]
    pub(crate) fn find_from(&self, word: u64, address: usize, mixed: u64) -> Rule {
        let bits = word ^ mixed << rule::BITS;
        if word != 0 && bits >> rule::BITS == 0 {
            return Rule::from_bits(bits as u32);
        }
        self.find_slow(address, mixed, place(mixed))
    }

    #[cold]
    #[inline(never)]
    fn find_slow(&self, address: usize, mixed: u64, place: usize) -> Rule {
        if address >> ADDRESS_BITS != 0 {
            return Rule::NONE;
        }
        let epoch = self.epoch.load(Ordering::SeqCst);
        let Some(rule) = self.find_in_modules(address) else {
            // Whoever scans next is told; until then nobody knows.
            self.unknown.store(address, Ordering::Relaxed);
            return Rule::NONE;
        };
        self.keep(mixed, place, rule, epoch);
        rule
    }

    fn keep(&self, mixed: u64, place: usize, rule: Rule, epoch: u32) {
        let Some(cached) = self.cache.get(place) else { return };
        cached.store(word(mixed, rule), Ordering::SeqCst);
        if self.epoch.load(Ordering::SeqCst) != epoch {
            cached.store(0, Ordering::Relaxed);
        }
    }

    /// The rule from its module's table; `None` when no module has the address.
    fn find_in_modules(&self, address: usize) -> Option<Rule> {
        let count = self.count.load(Ordering::Acquire);
        self.slots.iter().take(count).find_map(|slot| {
            let end = slot.end.load(Ordering::Acquire);
            let offset = address.checked_sub(slot.first.load(Ordering::Relaxed))?;
            if address >= end {
                return None;
            }
            Some(slot.table().find(offset as u32))
        })
    }

    /// Hands out the rules of each module, of those that are not loaded any more too.
    pub(crate) fn each_table(&self, visit: impl FnMut(Table)) {
        let count = self.count.load(Ordering::Acquire);
        self.slots.iter().take(count).map(Slot::table).for_each(visit);
    }

    /// Publishes a module's rules under the next number, from 0; `None` when there are too many. For
    /// one thread at a time, as are the next three.
    pub(crate) fn publish(&self, first: usize, end: usize, table: Table) -> Option<usize> {
        let number = self.count.load(Ordering::Relaxed);
        let slot = self.slots.get(number)?;
        slot.first.store(first, Ordering::Relaxed);
        slot.rows.store(table.0.as_ptr().cast_mut(), Ordering::Relaxed);
        slot.len.store(table.0.len(), Ordering::Relaxed);
        slot.end.store(end, Ordering::Release);
        self.count.store(number + 1, Ordering::Release);
        Some(number)
    }

    /// The module with this number is where it was, up to `end`; or nowhere, if that is 0.
    pub(crate) fn set_end(&self, number: usize, end: usize) {
        if let Some(slot) = self.slots.get(number) {
            slot.end.store(end, Ordering::Release);
        }
    }

    /// Addresses mean something else from now on: where one module was, another is.
    pub(crate) fn begin_era(&self) {
        self.era.fetch_add(1, Ordering::Relaxed);
    }

    /// How often that has happened.
    #[inline]
    pub(crate) fn era(&self) -> u32 {
        self.era.load(Ordering::Relaxed)
    }

    /// How often modules have changed: what was found before a change need not hold after it.
    #[inline]
    pub(crate) fn epoch(&self) -> u32 {
        self.epoch.load(Ordering::SeqCst)
    }

    /// Forgets what was cached: modules have changed. The epoch goes on before, for who is about to keep
    /// an old rule, and after, for who found one that was not forgotten yet.
    pub(crate) fn forget(&self) {
        self.epoch.fetch_add(1, Ordering::SeqCst);
        for word in &self.cache {
            word.store(0, Ordering::SeqCst);
        }
        self.epoch.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether an address came up that no module has.
    #[inline]
    pub(crate) fn has_unknown(&self) -> bool {
        self.unknown.load(Ordering::Relaxed) != 0
    }

    /// After a scan: if an unknown address is unknown still, that is remembered.
    pub(crate) fn settle_unknown(&self) {
        let address = self.unknown.swap(0, Ordering::Relaxed);
        if address != 0 && self.find_in_modules(address).is_none() {
            let mixed = mix(address);
            self.keep(mixed, place(mixed), Rule::NONE, self.epoch.load(Ordering::SeqCst));
        }
    }
}

impl Slot {
    fn table(&self) -> Table {
        let rows = self.rows.load(Ordering::Relaxed);
        if rows.is_null() {
            return Table::EMPTY;
        }
        // SAFETY: `publish` stored both before the range that led here, from a slice that lives as
        // long as the process, and nobody stores others.
        Table(unsafe { slice::from_raw_parts(rows, self.len.load(Ordering::Relaxed)) })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use crate::table::Builder;

    fn find(rules: &Rules, address: usize) -> Rule {
        rules.find(address, mix(address))
    }

    #[test]
    fn modules_come_and_go_and_the_cache_follows() {
        static RULES: Rules = Rules::new();
        let rules = &RULES;
        let mut builder = Builder::new(10).unwrap();
        builder.push(0x10, Rule::FRAME_POINTER).unwrap();
        let table = builder.finish();
        assert_eq!(find(rules, 0x7000_0010), Rule::NONE);
        assert!(rules.has_unknown());
        let number = rules.publish(0x7000_0000, 0x7000_1000, table).unwrap();
        rules.forget();
        for _ in 0..2 {
            assert_eq!(find(rules, 0x7000_0010), Rule::FRAME_POINTER);
            assert_eq!(find(rules, 0x7000_000f), Rule::NONE);
        }
        rules.settle_unknown();
        assert!(!rules.has_unknown());
        rules.set_end(number, 0);
        rules.forget();
        assert_eq!(find(rules, 0x7000_0010), Rule::NONE);
        rules.settle_unknown();
        assert_eq!(find(rules, 0x7000_0010), Rule::NONE);
        assert!(!rules.has_unknown(), "it is known to be nobody's");
        rules.set_end(number, 0x7000_1000);
        rules.forget();
        assert_eq!(find(rules, 0x7000_0010), Rule::FRAME_POINTER);
        assert_eq!(find(rules, usize::MAX), Rule::NONE);
    }

    /// What a walk finds in an epoch is kept for as long as that lasts, so nothing of before may be found.
    #[test]
    fn an_epoch_has_no_rule_from_before() {
        static RULES: Rules = Rules::new();
        static ENDED: AtomicU32 = AtomicU32::new(0);
        const FIRST: usize = 0x7000_0000;
        const ROUNDS: u32 = 300;
        let walker = std::thread::spawn(|| {
            let mut oldest = std::vec![u32::MAX; 2 * ROUNDS as usize + 1];
            while ENDED.load(Ordering::Relaxed) == 0 {
                let epoch = RULES.epoch();
                let rule = find(&RULES, FIRST + 0x10).bits();
                let oldest = &mut oldest[epoch as usize];
                *oldest = rule.min(*oldest);
            }
            oldest
        });
        // One module after the other at the same place, each with a rule of its own.
        for round in 1..=ROUNDS {
            let mut builder = Builder::new(10).unwrap();
            builder.push(0x10, Rule::from_bits(round)).unwrap();
            RULES.publish(FIRST, FIRST + 0x1000, builder.finish()).unwrap();
            if let Some(before) = (round as usize).checked_sub(2) {
                RULES.set_end(before, 0);
            }
            RULES.forget();
            std::thread::sleep(core::time::Duration::from_micros(100));
        }
        ENDED.store(1, Ordering::Relaxed);
        let oldest = walker.join().unwrap();
        for (round, found) in (1..).zip(oldest.iter().skip(2).step_by(2)) {
            assert!(*found >= round, "module {found} is found when {round} was there");
        }
    }

    #[test]
    fn no_two_addresses_share_a_cached_word() {
        static RULES: Rules = Rules::new();
        let mut builder = Builder::new(100_000).unwrap();
        let rule = |n: usize| [Rule::FRAME_POINTER, Rule::NONE][n % 7 % 2];
        for n in 0..40_000 {
            builder.push(n as u32, rule(n)).unwrap();
        }
        RULES.publish(0x7fff_0000_0000, 0x7fff_0000_0000 + 40_000, builder.finish()).unwrap();
        for _ in 0..2 {
            for n in 0..40_000 {
                assert_eq!(find(&RULES, 0x7fff_0000_0000 + n), rule(n), "{n}");
            }
        }
    }
}
