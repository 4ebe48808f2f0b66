//! What is left at the end, and since when.

use serde::Serialize;

use crate::profile::{Ages, By, Cell, Point, Profile, SiteLabel, ThreadLabel};
use crate::report::{Amount, Peak};
use crate::window::Part;

/// What is live at the end of a trace, or of a part of it.
///
/// Not all of it is leaked: what was allocated last may yet be freed, and what was allocated first
/// may be meant to stay. What comes from every stretch of time keeps growing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Leaks {
    /// Which part of the trace this is about.
    pub part: Part,
    /// All of it.
    pub live: Amount,
    /// The most bytes that were live.
    pub peak: Peak,
    /// When it was allocated.
    pub ages: Ages,
    /// What was live over time.
    pub growth: Vec<Point>,
    /// By site.
    pub sites: Vec<By<SiteLabel, Left>>,
    /// By the thread that allocated.
    pub threads: Vec<By<ThreadLabel, Left>>,
}

/// What is left of one site or thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Left {
    /// How much.
    pub live: Amount,
    /// Out of so much that was allocated in the part.
    pub allocated: Amount,
    /// When it was allocated.
    pub ages: Ages,
}

impl Profile {
    /// What is live at the end.
    pub fn leaks(&self) -> Leaks {
        let add = |sum: &mut Left, number: usize, cell: &Cell| {
            sum.live.plus(cell.live());
            sum.allocated.plus(cell.allocated);
            sum.ages.plus(&self.survivors.of(number));
        };
        let weight = |sum: &Left| sum.live.bytes;
        let ages = (0..self.books.cells.len()).fold(Ages::default(), |mut sum, number| {
            sum.plus(&self.survivors.of(number));
            sum
        });
        Leaks {
            part: self.part,
            live: self.totals.live,
            peak: self.totals.peak,
            ages,
            growth: self.timeline.clone(),
            sites: self.by_site(add, weight),
            threads: self.by_thread(add, weight),
        }
    }
}
