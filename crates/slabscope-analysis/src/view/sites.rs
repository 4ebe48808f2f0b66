//! Every site with what its objects did.

use serde::Serialize;

use crate::profile::{By, Cell, Lifetime, Profile, SiteLabel};
use crate::report::Amount;
use crate::sites::SiteId;
use crate::window::Part;

/// All sites.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SitesView {
    /// Which part of the trace this is about.
    pub part: Part,
    /// The sites, those that allocated the most bytes first.
    pub sites: Vec<By<SiteLabel, SiteFigures>>,
}

/// What the objects of a site did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SiteFigures {
    /// Those there as the part began.
    pub existed: Amount,
    /// Those allocated.
    pub allocated: Amount,
    /// Those freed.
    pub freed: Amount,
    /// Those freed soon, by the thread that allocated them.
    pub temporary: Amount,
    /// Those live at the end.
    pub live: Amount,
    /// Those live when the whole heap was at its peak.
    pub at_peak: Amount,
    /// Bytes of the slots of those allocated that nobody asked for.
    pub slack_bytes: u64,
    /// The most bytes of this site that were live at once.
    pub max_bytes: u64,
    /// How long those freed had lived; `None` where none was, or all were older than the trace.
    pub lifetime: Option<Lifetime>,
}

impl Profile {
    /// All sites.
    pub fn sites(&self) -> SitesView {
        let add = |sum: &mut SiteFigures, _: usize, cell: &Cell| {
            sum.existed.plus(cell.existed);
            sum.allocated.plus(cell.allocated);
            sum.freed.plus(cell.freed);
            sum.temporary.plus(cell.temporary);
            sum.live.plus(cell.live());
            sum.at_peak.plus(self.at_peak(cell));
            sum.slack_bytes = sum.slack_bytes.saturating_add(self.slack(cell));
            let SiteId(number) = cell.group;
            if let Some(track) = self.books.sites.get(number as usize) {
                sum.max_bytes = track.max_bytes;
                sum.lifetime = track.lifetimes.summary();
            }
        };
        // Strays have no bytes, and still are objects of the site.
        let weight = |sum: &SiteFigures| {
            let all = [sum.existed, sum.allocated];
            all.iter().fold(0, |weight: u64, amount| {
                weight.saturating_add(amount.bytes).saturating_add(amount.objects)
            })
        };
        SitesView { part: self.part, sites: self.by_site(add, weight) }
    }
}
