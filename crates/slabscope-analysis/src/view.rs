//! The answers to the questions people ask of a profile, each as plain data.

mod diff;
mod figures;
mod groups;
mod leaks;
mod peak;
mod report;
mod sites;
mod sizes;
mod spans;
mod stacks;
mod temporary;
mod threads;
mod types;

pub use diff::{Change, Compared, Diff};
pub use figures::Figures;
pub use groups::{GroupLabel, Grouping, GroupsView};
pub use leaks::{Leaks, Left};
pub use peak::{LiveAtPeak, PeakView};
pub use sites::{SiteFigures, SitesView};
pub use sizes::{SizeRow, SizesView, SlotRow};
pub use spans::SpansView;
pub use stacks::{Folded, Measure};
pub use temporary::{Short, TemporaryView};
pub use threads::{PairRow, ThreadFigures, ThreadsView};
pub use types::{Coverage, TypeRow, TypesView};
