//! Which types own the memory.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use serde::Serialize;

use crate::profile::{Cell, Lifetime, Lifetimes, Profile};
use crate::report::Amount;
use crate::site_type::{SiteType, TypeCertainty};
use crate::sites::SiteId;
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
    pub name: Option<std::sync::Arc<str>>,
    /// How sure that is, where it is least so.
    #[serde(rename = "type_certainty")]
    pub certainty: Option<TypeCertainty>,
    /// Places that allocate it: different stacks.
    pub sites: u64,
    /// Those there as the part began.
    pub existed: Amount,
    /// Those allocated.
    pub allocated: Amount,
    /// Those freed soon, by the thread that allocated them.
    pub temporary: Amount,
    /// Those live when the whole heap was at its peak.
    pub at_peak: Amount,
    /// Those live at the end.
    pub live: Amount,
    /// Bytes of the slots of those allocated that nobody asked for.
    pub slack_bytes: u64,
    /// How long those freed had lived; `None` where none was.
    pub lifetime: Option<Lifetime>,
}

#[derive(Default)]
struct Sum {
    row: TypeRow,
    groups: HashSet<SiteId, RandomState>,
    lifetimes: Lifetimes,
}

impl Profile {
    /// The types of all objects.
    pub fn types(&self) -> TypesView {
        let mut sums = HashMap::<Option<&str>, Sum, RandomState>::default();
        let mut coverage = Coverage::default();
        for cell in &self.books.cells {
            let found = self.named.type_of(cell.key.site);
            coverage.add(cell, found);
            let sum = sums.entry(found.map(|found| &*found.name)).or_default();
            if let Some(found) = found {
                let least = sum.row.certainty.map_or(found.certainty, |it| it.min(found.certainty));
                sum.row.name = Some(std::sync::Arc::clone(&found.name));
                sum.row.certainty = Some(least);
            }
            self.add(cell, sum);
        }
        let mut types: Vec<_> = sums.into_values().map(Sum::into_row).collect();
        types.sort_by(|a, b| {
            let weight = |row: &TypeRow| row.existed.bytes.saturating_add(row.allocated.bytes);
            weight(b).cmp(&weight(a)).then_with(|| a.name.cmp(&b.name))
        });
        TypesView { part: self.part, coverage, types }
    }

    fn add(&self, cell: &Cell, sum: &mut Sum) {
        let row = &mut sum.row;
        row.existed.plus(cell.existed);
        row.allocated.plus(cell.allocated);
        row.temporary.plus(cell.temporary);
        row.at_peak.plus(self.at_peak(cell));
        row.live.plus(cell.live());
        if let Some(size) = self.sites.get(cell.key.site).size {
            let asked = size.saturating_mul(cell.allocated.objects);
            let slack = cell.allocated.bytes.saturating_sub(asked);
            row.slack_bytes = row.slack_bytes.saturating_add(slack);
        }
        let SiteId(number) = cell.group;
        if sum.groups.insert(cell.group)
            && let Some(track) = self.books.sites.get(number as usize)
        {
            sum.lifetimes.append(&track.lifetimes);
        }
    }
}

impl Sum {
    fn into_row(self) -> TypeRow {
        TypeRow { sites: self.groups.len() as u64, lifetime: self.lifetimes.summary(), ..self.row }
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
