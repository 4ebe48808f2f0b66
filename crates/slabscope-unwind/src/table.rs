//! A module's rules, sorted by address.

use crate::memory::Growing;
use crate::rule::Rule;

/// Rules being collected. Each holds from its address to the next one's.
pub(crate) struct Builder {
    /// `[offset : 32 | rule : 32]`
    rows: Growing<u64>,
}

/// Finished rules; they stay as long as the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Table(pub(crate) &'static [u64]);

impl Builder {
    /// With room for so many; `None` when the kernel refuses.
    pub(crate) fn new(room: usize) -> Option<Self> {
        Some(Builder { rows: Growing::new(room)? })
    }

    /// From `offset` on `rule` holds. Offsets rise; one that does not is left out. `None` when there
    /// is no more room.
    pub(crate) fn push(&mut self, offset: u32, rule: Rule) -> Option<()> {
        let row = u64::from(offset) << 32 | u64::from(rule.bits());
        match self.rows.as_mut_slice().last_mut() {
            Some(last) if *last >> 32 > u64::from(offset) => Some(()),
            // An empty range: what was said of it holds nowhere.
            Some(last) if *last >> 32 == u64::from(offset) => {
                *last = row;
                Some(())
            }
            Some(last) if *last as u32 == rule.bits() => Some(()),
            _ => self.rows.push(row),
        }
    }

    pub(crate) fn finish(self) -> Table {
        Table(self.rows.keep())
    }
}

impl Table {
    /// Of a module that has none.
    pub(crate) const EMPTY: Table = Table(&[]);

    /// The rule at `offset`.
    pub(crate) fn find(self, offset: u32) -> Rule {
        let after = self.0.partition_point(|&row| row >> 32 <= u64::from(offset));
        let row = after.checked_sub(1).and_then(|index| self.0.get(index));
        row.map_or(Rule::NONE, |&row| Rule::from_bits(row as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_offset_has_the_rule_before_it() {
        let mut builder = Builder::new(100).unwrap();
        for (offset, rule) in [
            (10, Rule::FRAME_POINTER),
            (15, Rule::FRAME_POINTER),
            (20, Rule::FRAME_POINTER),
            (20, Rule::NONE),
            (12, Rule::FRAME_POINTER),
            (30, Rule::FRAME_POINTER),
        ] {
            builder.push(offset, rule).unwrap();
        }
        let table = builder.finish();
        assert_eq!(table.0.len(), 3);
        for (offset, rule) in [
            (0, Rule::NONE),
            (9, Rule::NONE),
            (10, Rule::FRAME_POINTER),
            (19, Rule::FRAME_POINTER),
            (20, Rule::NONE),
            (29, Rule::NONE),
            (30, Rule::FRAME_POINTER),
            (u32::MAX, Rule::FRAME_POINTER),
        ] {
            assert_eq!(table.find(offset), rule, "{offset}");
        }
        assert_eq!(Table::EMPTY.find(5), Rule::NONE);
    }
}
