//! Sites: what was asked for, and where in the program, by one number for the whole trace.
//!
//! A trace numbers its sites anew in each generation. Here a site is what it says: size and
//! alignment in our traces, the type in Go's, and the call stack where the trace has one.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};
use slabscope_trace::alloc_free::{GenerationData, TypeEntry};
use slabscope_trace::{Stack as TraceStack, Time};

use crate::site_type::SiteType;
use crate::stacks::{StackId, Stacks};

/// A place in the program that allocates, as much as the trace tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Site {
    /// Bytes asked for, where the trace tells.
    pub(crate) size: Option<u64>,
    /// Alignment asked for, in bytes.
    pub(crate) align: Option<u64>,
    /// The type of the object, where the trace tells.
    pub(crate) type_of: Option<SiteType>,
    /// The call stack.
    pub(crate) stack: StackId,
}

/// The number of a site in the whole trace.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub(crate) struct SiteId(pub(crate) u32);

impl SiteId {
    /// Nothing is known of where.
    pub(crate) const UNKNOWN: SiteId = SiteId(0);
}

/// What a number of a generation stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbered {
    /// The site.
    pub(crate) id: SiteId,
    /// Its group; see [`Sites::group`].
    pub(crate) group: SiteId,
}

impl Numbered {
    /// Nothing that is known.
    pub(crate) const UNKNOWN: Numbered = Numbered { id: SiteId::UNKNOWN, group: SiteId::UNKNOWN };
}

/// Numbers below this are looked up in a list; larger ones, as Go's are, in a map.
const DENSE_MAX: usize = 1 << 22;

/// All sites so far, and their numbers in this generation.
#[derive(Debug)]
pub(crate) struct Sites {
    sites: Vec<Site>,
    by_site: HashMap<Site, SiteId, RandomState>,
    stacks: Stacks,
    /// For each site the first one with the same stack and declared type, or itself where it has no
    /// stack.
    groups: Vec<SiteId>,
    /// By stack and declared type.
    by_stack: HashMap<(StackId, Option<Arc<str>>), SiteId, RandomState>,
    /// By number in this generation, if that is small; `UNKNOWN` for none.
    dense: Vec<Numbered>,
    sparse: HashMap<u64, Numbered, RandomState>,
    /// How many objects were of sites that no generation told of.
    pub(crate) unknown: u64,
}

impl Default for Sites {
    fn default() -> Self {
        Sites {
            sites: vec![Site::default()],
            by_site: HashMap::from_iter([(Site::default(), SiteId::UNKNOWN)]),
            stacks: Stacks::default(),
            groups: vec![SiteId::UNKNOWN],
            by_stack: HashMap::default(),
            dense: vec![Numbered::UNKNOWN],
            sparse: HashMap::default(),
            unknown: 0,
        }
    }
}

impl Sites {
    /// Takes in the sites of a generation that begins at this time, with their stacks and the types
    /// that a tool found out for them; those of the last one hold no more. `named` knows the stacks
    /// of the standard table: where they are, the program's files are not needed.
    pub(crate) fn take_sites(
        &mut self,
        data: &GenerationData,
        start: Time,
        named: impl Fn(u64) -> Option<TraceStack>,
    ) {
        self.clear();
        if !data.sites.iter().any(|entry| named(entry.stack).is_some()) {
            self.stacks.take(data, start);
        }
        let types = types(data);
        for entry in &data.sites {
            let stack = self.stacks.at(entry.stack, || named(entry.stack));
            let type_of = types.get(&entry.id).cloned();
            let site = Site { size: Some(entry.size), align: Some(entry.align), type_of, stack };
            self.add(entry.id, site);
        }
    }

    /// The same for the types of a trace that has no sites. Their sizes are not what was asked for,
    /// which may have been several of them.
    pub(crate) fn take_types(&mut self, entries: Vec<TypeEntry>) {
        self.clear();
        for entry in entries {
            let site = Site { type_of: Some(SiteType::declared(&entry.name)), ..Site::default() };
            self.add(entry.id, site);
        }
    }

    /// The site with this number in this generation; number 0 is none.
    #[inline]
    pub(crate) fn at(&self, number: u64) -> Numbered {
        match self.dense.get(number as usize) {
            Some(&known) => known,
            None => self.far(number),
        }
    }

    /// The site of an object that has this number. It is counted where the site is not known.
    pub(crate) fn of_object(&mut self, number: u64) -> Numbered {
        let site = self.at(number);
        self.unknown += u64::from(number != 0 && site == Numbered::UNKNOWN);
        site
    }

    #[cold]
    fn far(&self, number: u64) -> Numbered {
        self.sparse.get(&number).copied().unwrap_or(Numbered::UNKNOWN)
    }

    /// What is known of a site.
    #[inline]
    pub(crate) fn get(&self, id: SiteId) -> &Site {
        // The first one stands for all that is not there.
        self.sites.get(id.0 as usize).unwrap_or(&self.sites[0])
    }

    /// The first site with the same stack and declared type: what it stands for has all sizes that were asked for
    /// there. A site without a stack stands for itself.
    #[inline]
    pub(crate) fn group(&self, id: SiteId) -> SiteId {
        self.groups.get(id.0 as usize).copied().unwrap_or(SiteId::UNKNOWN)
    }

    /// All sites, in the order of their numbers.
    pub(crate) fn all(&self) -> &[Site] {
        &self.sites
    }

    /// The stacks of the sites.
    pub(crate) fn stacks(&self) -> &Stacks {
        &self.stacks
    }

    /// These sites and stacks; `None` when they cannot be. Their numbers in a generation are unknown.
    pub(crate) fn kept(sites: &[Site], stacks: Stacks) -> Option<Sites> {
        let mut kept = Sites { stacks, ..Sites::default() };
        let rest = sites.strip_prefix(&[Site::default()])?;
        rest.iter().for_each(|site| {
            kept.intern(site.clone());
        });
        // Each is there once.
        (kept.sites.len() == sites.len()).then_some(kept)
    }

    fn clear(&mut self) {
        self.dense.clear();
        // Events without a site name number 0.
        self.dense.push(Numbered::UNKNOWN);
        self.sparse.clear();
    }

    fn intern(&mut self, site: Site) -> SiteId {
        let next = SiteId(u32::try_from(self.sites.len()).unwrap_or(0));
        let stack = site.stack;
        let declared = site.type_of.as_ref().and_then(SiteType::if_declared);
        let id = *self.by_site.entry(site).or_insert_with_key(|site| {
            self.sites.push(site.clone());
            next
        });
        if id == next && self.groups.len() < self.sites.len() {
            let first = self.by_stack.entry((stack, declared)).or_insert(id);
            self.groups.push(if stack.is_none() { id } else { *first });
        }
        id
    }

    fn add(&mut self, number: u64, site: Site) {
        let id = self.intern(site);
        let known = Numbered { id, group: self.group(id) };
        match usize::try_from(number) {
            Ok(0) => {}
            Ok(index) if index < DENSE_MAX => {
                if index >= self.dense.len() {
                    self.dense.resize(index + 1, Numbered::UNKNOWN);
                }
                self.dense[index] = known;
            }
            _ => {
                self.sparse.insert(number, known);
            }
        }
    }
}

/// The types of sites that a generation knows: those that a tool found out, and, before them, those
/// that the program declared.
fn types(data: &GenerationData) -> HashMap<u64, SiteType, RandomState> {
    let found = data.site_types.iter().map(|(id, sure, name)| (*id, SiteType::new(*sure, name)));
    let names: HashMap<u64, SiteType, RandomState> =
        data.type_names.iter().map(|(id, name)| (*id, SiteType::of_scope(name))).collect();
    let declared =
        data.typed_sites.iter().filter_map(|(id, name)| Some((*id, names.get(name)?.clone())));
    found.chain(declared).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(id: u64, name: &str) -> TypeEntry {
        TypeEntry { id, address: 0, size: 8, pointer_bytes: 0, name: name.to_owned() }
    }

    #[test]
    fn a_site_keeps_its_number_from_one_generation_to_the_next() {
        let mut sites = Sites::default();
        sites.take_types(vec![named(3, "a"), named(1 << 40, "b")]);
        let (a, b) = (sites.at(3).id, sites.at(1 << 40).id);
        assert_ne!(a, b);
        for none in [2, 4, 1 << 41] {
            assert_eq!(sites.at(none), Numbered::UNKNOWN);
        }
        sites.take_types(vec![named(9, "a")]);
        assert_eq!((sites.at(9).id, sites.at(3).id), (a, SiteId::UNKNOWN));
        assert_eq!(sites.get(b).type_of, Some(SiteType::declared("b")));
        assert_eq!(sites.get(SiteId(77)), &Site::default());
        assert_eq!(sites.all().len(), 3);
        assert_eq!(sites.group(b), b);
    }
}
