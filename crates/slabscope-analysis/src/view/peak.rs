//! What was live when the most bytes were.

use serde::Serialize;

use crate::profile::{By, Cell, ClassLabel, Profile, SiteLabel, ThreadLabel};
use crate::report::{Amount, Peak};
use crate::window::Part;

/// What was live at the peak.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PeakView {
    /// Which part of the trace this is about.
    pub part: Part,
    /// How much, and when.
    pub peak: Peak,
    /// How much is live at the end.
    pub live_at_end: Amount,
    /// By size class.
    pub classes: Vec<By<ClassLabel, LiveAtPeak>>,
    /// By site.
    pub sites: Vec<By<SiteLabel, LiveAtPeak>>,
    /// By the thread that allocated.
    pub threads: Vec<By<ThreadLabel, LiveAtPeak>>,
}

/// What was live at the peak of one site, class or thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LiveAtPeak {
    /// How much.
    #[serde(flatten)]
    pub live: Amount,
}

impl Profile {
    /// What was live at the peak.
    pub fn peak(&self) -> PeakView {
        let add = |sum: &mut LiveAtPeak, _: usize, cell: &Cell| sum.live.plus(self.at_peak(cell));
        let weight = |sum: &LiveAtPeak| sum.live.bytes;
        PeakView {
            part: self.part,
            peak: self.totals.peak,
            live_at_end: self.totals.live,
            classes: self.by_class(add, weight),
            sites: self.by_site(add, weight),
            threads: self.by_thread(add, weight),
        }
    }
}
