//! Sites put together by what is at their stacks' telling frames.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use serde::Serialize;
use slabscope_symbols::{crate_of, module_of};

use super::figures::{Figures, Sum};
use crate::frame::Frame;
use crate::profile::{By, Profile};
use crate::sites::SiteId;
use crate::window::Part;

/// What sites are put together by.
///
/// All but [`Grouping::Crate`] look at the innermost frame of the program's own code, or where a stack has
/// none, of any crate but the standard library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    /// The function.
    Function,
    /// The line of a function.
    Line,
    /// The source file.
    File,
    /// The module that the function stands in.
    Module,
    /// The crate of the innermost function outside of the standard library.
    Crate,
}

/// All sites, put together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupsView {
    /// Which part of the trace this is about.
    pub part: Part,
    /// By what they are put together.
    pub by: Grouping,
    /// The groups, those with the most bytes first.
    pub groups: Vec<By<GroupLabel, Figures>>,
}

/// What sites have in common; all empty for those of which nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct GroupLabel {
    /// The function, module or crate.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub name: Arc<str>,
    /// The source file.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub file: Arc<str>,
    /// The line in that file, 0 where it is not known.
    #[serde(skip_serializing_if = "is_zero")]
    pub line: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it so")]
fn is_zero(line: &u64) -> bool {
    *line == 0
}

impl Profile {
    /// All sites, put together.
    pub fn groups(&self, by: Grouping) -> GroupsView {
        let mut labels = HashMap::<SiteId, GroupLabel, RandomState>::default();
        let mut sums = HashMap::<GroupLabel, Sum, RandomState>::default();
        for cell in &self.books.cells {
            let label = labels.entry(cell.group).or_insert_with(|| self.label(cell.group, by));
            match sums.get_mut(label) {
                Some(sum) => sum.add(self, cell),
                None => sums.entry(label.clone()).or_default().add(self, cell),
            }
        }
        let rows = sums.into_iter().map(|(label, sum)| By { label, figures: sum.figures() });
        let mut groups: Vec<_> = rows.collect();
        groups.sort_by(|a, b| {
            b.figures.weight().cmp(&a.figures.weight()).then_with(|| a.label.cmp(&b.label))
        });
        GroupsView { part: self.part, by, groups }
    }

    /// What the sites with this one's stack have in common with others.
    fn label(&self, site: SiteId, by: Grouping) -> GroupLabel {
        let stack = self.frames(self.sites.get(site).stack);
        let frame = match by {
            Grouping::Crate => Frame::outside_of_std(&stack),
            _ => Frame::telling(&stack),
        };
        frame.map(|frame| GroupLabel::new(frame, by)).unwrap_or_default()
    }
}

impl GroupLabel {
    fn new(frame: &Frame, by: Grouping) -> GroupLabel {
        let (name, file) = (Arc::clone(&frame.function), Arc::clone(&frame.file));
        let none = GroupLabel::default();
        match by {
            Grouping::Function => GroupLabel { name, ..none },
            Grouping::Line => GroupLabel { name, file, line: frame.line },
            Grouping::File => GroupLabel { file, ..none },
            Grouping::Module => GroupLabel { name: module_of(&name).into(), ..none },
            Grouping::Crate => GroupLabel { name: crate_of(&name).into(), ..none },
        }
    }
}
