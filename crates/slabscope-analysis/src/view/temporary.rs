//! Objects that were freed as soon as they were allocated: work that could be spared.

use serde::Serialize;

use crate::profile::{By, Cell, ClassLabel, Profile, SiteLabel, ThreadLabel};
use crate::report::Amount;
use crate::window::Part;

/// The short-lived objects.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TemporaryView {
    /// Which part of the trace this is about.
    pub part: Part,
    /// All objects.
    pub total: Short,
    /// By site.
    pub sites: Vec<By<SiteLabel, Short>>,
    /// By size class.
    pub classes: Vec<By<ClassLabel, Short>>,
    /// By thread.
    pub threads: Vec<By<ThreadLabel, Short>>,
}

/// How many objects were short-lived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Short {
    /// Those.
    pub temporary: Amount,
    /// Out of so many.
    pub allocated: Amount,
}

impl Short {
    /// The short-lived ones as a part of all, from 0 to 1.
    pub fn part(&self) -> Option<f64> {
        let all = self.allocated.objects;
        (all > 0).then(|| self.temporary.objects as f64 / all as f64)
    }
}

impl Profile {
    /// The short-lived objects.
    pub fn temporary(&self) -> TemporaryView {
        let add = |sum: &mut Short, _: usize, cell: &Cell| {
            sum.temporary.plus(cell.temporary);
            sum.allocated.plus(cell.allocated);
        };
        let weight = |sum: &Short| sum.temporary.objects;
        let (temporary, allocated) = (self.totals.temporary, self.totals.allocated);
        TemporaryView {
            part: self.part,
            total: Short { temporary, allocated },
            sites: self.by_site(add, weight),
            classes: self.by_class(add, weight),
            threads: self.by_thread(add, weight),
        }
    }
}
