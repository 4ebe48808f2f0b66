//! Two profiles side by side.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::profile::{By, ClassLabel, Profile, SiteLabel, Totals};
use crate::report::Amount;

/// What differs between two profiles.
///
/// Sites are the same when they say the same: numbers and threads differ from run to run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diff {
    /// All objects.
    pub totals: Change<Totals>,
    /// By site, those whose allocated bytes changed most first.
    pub sites: Vec<By<SiteLabel, Change<Compared>>>,
    /// By size class, the same.
    pub classes: Vec<By<ClassLabel, Change<Compared>>>,
}

/// One thing in the first profile and in the second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Change<T> {
    /// In the first.
    pub before: T,
    /// In the second.
    pub after: T,
}

/// What is compared of a site or class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Compared {
    /// Objects allocated.
    pub allocated: Amount,
    /// Objects freed soon.
    pub temporary: Amount,
    /// Objects live at the peak.
    pub at_peak: Amount,
    /// Objects live at the end.
    pub live: Amount,
}

impl Change<Compared> {
    /// Bytes allocated more, or fewer, in the second.
    pub fn bytes(&self) -> i64 {
        let [before, after] = [self.before, self.after].map(|it| it.allocated.bytes);
        signed_difference(before, after)
    }
}

/// How much `after` is more, or less, than `before`; the nearest number where it is none.
pub(crate) fn signed_difference(before: u64, after: u64) -> i64 {
    let difference = i128::from(after) - i128::from(before);
    i64::try_from(difference).unwrap_or(if difference < 0 { i64::MIN } else { i64::MAX })
}

impl Diff {
    /// What differs from `before` to `after`.
    pub fn new(before: &Profile, after: &Profile) -> Diff {
        let mut sites = BTreeMap::<SiteLabel, Change<Compared>>::new();
        let mut classes = BTreeMap::<ClassLabel, Change<Compared>>::new();
        for (profile, is_after) in [(before, false), (after, true)] {
            for cell in profile.stacks() {
                let compared = Compared {
                    allocated: cell.allocated,
                    temporary: cell.temporary,
                    at_peak: cell.at_peak,
                    live: cell.live,
                };
                sites.entry(cell.site).or_default().plus(&compared, is_after);
                classes.entry(cell.class).or_default().plus(&compared, is_after);
            }
        }
        Diff {
            totals: Change { before: before.totals, after: after.totals },
            sites: sorted(sites),
            classes: sorted(classes),
        }
    }
}

impl Change<Compared> {
    fn plus(&mut self, more: &Compared, is_after: bool) {
        let sum = if is_after { &mut self.after } else { &mut self.before };
        sum.allocated.plus(more.allocated);
        sum.temporary.plus(more.temporary);
        sum.at_peak.plus(more.at_peak);
        sum.live.plus(more.live);
    }
}

fn sorted<L>(sums: BTreeMap<L, Change<Compared>>) -> Vec<By<L, Change<Compared>>> {
    let changed = sums.into_iter().filter(|(_, change)| change.before != change.after);
    let mut rows: Vec<_> = changed.map(|(label, figures)| By { label, figures }).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.figures.bytes().unsigned_abs()));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_stop_at_the_largest_number() {
        assert_eq!(signed_difference(5, 3), -2);
        assert_eq!(signed_difference(0, u64::MAX), i64::MAX);
        assert_eq!(signed_difference(u64::MAX, 0), i64::MIN);
    }
}
