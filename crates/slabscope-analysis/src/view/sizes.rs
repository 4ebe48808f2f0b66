//! Which sizes were asked for, and what their slots cost beyond them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::heap::Class;
use crate::profile::{ClassLabel, Profile};
use crate::report::{Amount, Requested};
use crate::window::Part;

/// The sizes that were asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizesView {
    /// Which part of the trace this is about.
    pub part: Part,
    /// All objects whose size the trace tells.
    pub requested: Requested,
    /// By size asked for, smallest first.
    pub sizes: Vec<SizeRow>,
    /// The other objects, by the size of their slots; in Go's traces, that is all of them.
    pub slots: Vec<SlotRow>,
}

/// The objects of one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SizeRow {
    /// Bytes asked for.
    pub size: u64,
    /// The objects, and bytes of their slots.
    pub allocated: Amount,
    /// Bytes of the slots that nobody asked for.
    pub slack_bytes: u64,
}

/// The objects of one size class whose size the trace does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SlotRow {
    /// The class.
    #[serde(flatten)]
    pub class: ClassLabel,
    /// The objects, and bytes of their slots.
    pub allocated: Amount,
}

impl Profile {
    /// The sizes that were asked for.
    pub fn sizes(&self) -> SizesView {
        let mut sizes = BTreeMap::<u64, Amount>::new();
        let mut slots = BTreeMap::<Class, Amount>::new();
        for cell in self.books.cells.iter().filter(|cell| cell.allocated.objects > 0) {
            let size = self.sites.get(cell.key.site).size;
            let sum = match size {
                Some(size) => sizes.entry(size).or_default(),
                None => slots.entry(cell.key.class).or_default(),
            };
            sum.plus(cell.allocated);
        }
        let mut requested = Requested::default();
        let row = |(size, allocated): (u64, Amount)| {
            let asked = size.saturating_mul(allocated.objects);
            let slack_bytes = allocated.bytes.saturating_sub(asked);
            requested.objects += allocated.objects;
            requested.bytes = requested.bytes.saturating_add(asked);
            requested.slack_bytes = requested.slack_bytes.saturating_add(slack_bytes);
            SizeRow { size, allocated, slack_bytes }
        };
        let sizes = sizes.into_iter().map(row).collect();
        let slot = |(class, allocated): (Class, Amount)| SlotRow { class: class.into(), allocated };
        let slots = slots.into_iter().map(slot).collect();
        SizesView { part: self.part, requested, sizes, slots }
    }
}
