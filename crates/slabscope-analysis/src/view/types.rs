//! Which types own the memory.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use serde::Serialize;

use super::figures::{Figures, Sum};
use crate::profile::{Cell, Profile};
use crate::report::Amount;
use crate::site_type::{SiteType, TypeCertainty};
use crate::window::Part;

/// The types of all objects.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TypesView {
    /// Which part of the trace this is about.
    pub part: Part,
    /// How much of it has a type.
    pub coverage: Coverage,
    /// The types, those with the most bytes first.
    pub types: Vec<TypeRow>,
}

/// How much has a type, of what was there and what was allocated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// All objects.
    pub all: Amount,
    /// Those with a type.
    pub typed: Amount,
    /// Those whose type is a guess.
    pub guessed: Amount,
    /// Those whose type is likely.
    pub likely: Amount,
}

/// What the objects of one type did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TypeRow {
    /// The type, as people write it; `None` for all whose type is not known.
    #[serde(rename = "type")]
    pub name: Option<Arc<str>>,
    /// How sure that is, where it is least so.
    #[serde(rename = "type_certainty")]
    pub certainty: Option<TypeCertainty>,
    /// What they did.
    #[serde(flatten)]
    pub figures: Figures,
}

impl Profile {
    /// The types of all objects.
    pub fn types(&self) -> TypesView {
        let mut sums = HashMap::<_, (Option<TypeCertainty>, Sum), RandomState>::default();
        let mut coverage = Coverage::default();
        for cell in &self.books.cells {
            let found = self.type_of(cell.key.site);
            coverage.add(cell, found.as_ref());
            let name = found.as_ref().map(|found| Arc::clone(&found.name));
            let (certainty, sum) = sums.entry(name).or_default();
            let of_cell = found.map(|found| found.certainty);
            *certainty = certainty.map_or(of_cell, |it| of_cell.map(|other| it.min(other)));
            sum.add(self, cell);
        }
        let rows = sums.into_iter().map(|(name, (certainty, sum))| TypeRow {
            name,
            certainty,
            figures: sum.figures(),
        });
        let mut types: Vec<_> = rows.collect();
        types.sort_by(|a, b| {
            b.figures.weight().cmp(&a.figures.weight()).then_with(|| a.name.cmp(&b.name))
        });
        TypesView { part: self.part, coverage, types }
    }
}

impl Coverage {
    fn add(&mut self, cell: &Cell, found: Option<&SiteType>) {
        let mut amount = cell.existed;
        amount.plus(cell.allocated);
        self.all.plus(amount);
        let Some(found) = found else { return };
        self.typed.plus(amount);
        match found.certainty {
            TypeCertainty::Guess => self.guessed.plus(amount),
            TypeCertainty::Likely => self.likely.plus(amount),
            TypeCertainty::Exact | TypeCertainty::Declared => {}
        }
    }
}
