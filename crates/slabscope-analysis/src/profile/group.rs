//! Sums of cells by site, class or thread, and what those are called.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use foldhash::fast::RandomState;
use serde::Serialize;
use slabscope_wire::size_class::SizeClass;

use super::Profile;
use super::cell::Cell;
use crate::frame::Frame;
use crate::heap::Class;
use crate::site_type::{SiteType, TypeCertainty};
use crate::sites::{Site, SiteId};
use crate::threads::Owner;

/// What is known of where something was allocated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct SiteLabel {
    /// Bytes asked for, where the trace tells.
    pub size: Option<u64>,
    /// Alignment asked for, in bytes.
    pub align: Option<u64>,
    /// The type that owns the memory.
    #[serde(rename = "type")]
    pub type_name: Option<Arc<str>>,
    /// How sure that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub type_certainty: Option<TypeCertainty>,
    /// The call stack, innermost first; empty where the trace has none.
    pub stack: Vec<Arc<Frame>>,
}

/// A size class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct ClassLabel {
    /// Its number: 0 for large objects, `None` for those that lie in no slot.
    pub class: Option<u8>,
    /// Bytes of a slot; `None` where they differ.
    pub slot_bytes: Option<u64>,
}

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct ThreadLabel {
    /// Its number; `None` for whoever allocated before the trace began.
    pub thread: Option<i64>,
    /// Its name; empty where the trace does not tell.
    pub name: String,
}

/// Figures of one site, class or thread.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct By<Label, Figures> {
    /// Whose.
    #[serde(flatten)]
    pub label: Label,
    /// The figures.
    #[serde(flatten)]
    pub figures: Figures,
}

impl Profile {
    /// The sums of all cells that have the same key, in no order.
    pub(crate) fn sums<K: Eq + Hash, F: Default>(
        &self,
        key: impl Fn(&Cell) -> K,
        mut add: impl FnMut(&mut F, usize, &Cell),
    ) -> HashMap<K, F, RandomState> {
        let mut sums = HashMap::default();
        for (number, cell) in self.books.cells.iter().enumerate() {
            add(sums.entry(key(cell)).or_default(), number, cell);
        }
        sums
    }

    /// Rows by site, those of the greatest weight first. Sites with the same stack are one row.
    pub(crate) fn by_site<F: Default>(
        &self,
        add: impl FnMut(&mut F, usize, &Cell),
        weight: impl Fn(&F) -> u64,
    ) -> Vec<By<SiteLabel, F>> {
        let sums = self.sums(|cell| cell.group, add);
        let mut named = 0..self.named_rows;
        let label = |group| match named.next() {
            Some(_) => self.group_label(group),
            None => SiteLabel::default(),
        };
        sorted(sums, weight, label)
    }

    /// Rows by size class, those of the greatest weight first.
    pub(crate) fn by_class<F: Default>(
        &self,
        add: impl FnMut(&mut F, usize, &Cell),
        weight: impl Fn(&F) -> u64,
    ) -> Vec<By<ClassLabel, F>> {
        let sums = self.sums(|cell| cell.key.class, add);
        sorted(sums, weight, ClassLabel::from)
    }

    /// Rows by the thread that allocated, those of the greatest weight first.
    pub(crate) fn by_thread<F: Default>(
        &self,
        add: impl FnMut(&mut F, usize, &Cell),
        weight: impl Fn(&F) -> u64,
    ) -> Vec<By<ThreadLabel, F>> {
        let sums = self.sums(|cell| cell.key.owner, add);
        sorted(sums, weight, |owner| self.thread_label(owner))
    }

    pub(crate) fn site_label(&self, id: SiteId) -> SiteLabel {
        let Some(site) = self.sites.all().get(id.0 as usize) else { return SiteLabel::default() };
        SiteLabel::new(site, self.type_of(id).as_ref(), self.frames(site.stack))
    }

    /// The label of the sites with the same stack as this one, which is the first of them.
    fn group_label(&self, first: SiteId) -> SiteLabel {
        let mut label = self.site_label(first);
        if self.mixed.contains(&first) {
            (label.size, label.align) = (None, None);
        }
        label
    }

    pub(crate) fn thread_label(&self, owner: Owner) -> ThreadLabel {
        match owner.index().and_then(|index| self.threads.get(index)) {
            Some(thread) => ThreadLabel { thread: Some(thread.id), name: thread.name.clone() },
            None => ThreadLabel::default(),
        }
    }
}

impl SiteLabel {
    /// The label of a site with this type and this stack.
    pub(crate) fn new(
        site: &Site,
        type_of: Option<&SiteType>,
        stack: Vec<Arc<Frame>>,
    ) -> SiteLabel {
        SiteLabel {
            size: site.size,
            align: site.align,
            type_name: type_of.map(|found| Arc::clone(&found.name)),
            type_certainty: type_of.map(|found| found.certainty),
            stack,
        }
    }
}

impl From<Class> for ClassLabel {
    fn from(class: Class) -> Self {
        let known = SizeClass::new(class.0).filter(|_| class != Class::NONE);
        let small = known.filter(|&class| class != SizeClass::LARGE);
        ClassLabel {
            class: known.map(|class| class.index() as u8),
            slot_bytes: small.map(|class| class.slot_size() as u64),
        }
    }
}

/// Rows without any weight are left out.
fn sorted<K: Copy + Ord, F, Label>(
    sums: HashMap<K, F, RandomState>,
    weight: impl Fn(&F) -> u64,
    mut label: impl FnMut(K) -> Label,
) -> Vec<By<Label, F>> {
    let mut rows: Vec<_> = sums.into_iter().filter(|(_, figures)| weight(figures) > 0).collect();
    rows.sort_by_key(|(key, figures)| (std::cmp::Reverse(weight(figures)), *key));
    rows.into_iter().map(|(key, figures)| By { label: label(key), figures }).collect()
}
