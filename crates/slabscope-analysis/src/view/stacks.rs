//! Objects by stack, for flame graphs and other programs.

use serde::Serialize;

use crate::profile::{Cell, ClassLabel, Profile, SiteLabel, ThreadLabel};
use crate::report::Amount;

/// What to weigh by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Bytes allocated.
    Bytes,
    /// Objects allocated.
    Count,
    /// Bytes live at the peak.
    Peak,
    /// Bytes live at the end.
    Leaked,
    /// Objects freed soon.
    Temporary,
}

/// The objects of one site, size class and thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Folded {
    /// Where they were allocated.
    pub site: SiteLabel,
    /// What slots they lie in.
    pub class: ClassLabel,
    /// Who allocated them.
    pub thread: ThreadLabel,
    /// Those there as the part began.
    pub existed: Amount,
    /// Those allocated.
    pub allocated: Amount,
    /// Those freed soon.
    pub temporary: Amount,
    /// Those live at the peak.
    pub at_peak: Amount,
    /// Those live at the end.
    pub live: Amount,
}

impl Folded {
    /// How much they weigh.
    pub fn weight(&self, measure: Measure) -> u64 {
        match measure {
            Measure::Bytes => self.allocated.bytes,
            Measure::Count => self.allocated.objects,
            Measure::Peak => self.at_peak.bytes,
            Measure::Leaked => self.live.bytes,
            Measure::Temporary => self.temporary.objects,
        }
    }
}

impl Profile {
    /// All objects by site, size class and thread, in the order they were met.
    pub fn stacks(&self) -> impl Iterator<Item = Folded> {
        self.books.cells.iter().map(|cell: &Cell| Folded {
            site: self.site_label(cell.key.site),
            class: cell.key.class.into(),
            thread: self.thread_label(cell.key.owner),
            existed: cell.existed,
            allocated: cell.allocated,
            temporary: cell.temporary,
            at_peak: self.at_peak(cell),
            live: cell.live(),
        })
    }
}
