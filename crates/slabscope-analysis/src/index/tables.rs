//! Sites, stacks and numbers of the whole trace. Those of a part are the first of them.

use serde::{Deserialize, Serialize};
use slabscope_trace::Time;
use slabscope_trace::alloc_free::ModuleEntry;

use crate::profile::{Keys, Ledger};
use crate::replay::Replay;
use crate::sites::{Site, Sites};
use crate::stacks::{Node, Place, Stacks};

/// Sites, stacks and numbers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Tables {
    sites: Vec<Site>,
    nodes: Vec<Node>,
    places: Vec<Place>,
    modules: Vec<Module>,
    pub(super) keys: Keys,
}

/// See [`ModuleEntry`].
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Module {
    id: u64,
    first: u64,
    end: u64,
    bias: u64,
    loaded: Option<i64>,
    unloaded: Option<i64>,
    build_id: Vec<u8>,
    path: String,
}

impl Tables {
    /// All that `replay` has met.
    pub(super) fn of(replay: &Replay<Ledger>) -> Tables {
        let (sites, stacks) = (replay.sites.all(), replay.sites.stacks());
        Tables {
            sites: sites.to_vec(),
            nodes: stacks.nodes().to_vec(),
            places: stacks.all_places().to_vec(),
            modules: stacks.modules().iter().cloned().map(Module::from).collect(),
            keys: replay.lens.books.all_keys(sites.len()),
        }
    }

    /// Whether each cell is of a site that is there.
    pub(super) fn is_sound(&self) -> bool {
        let sites = self.sites.len();
        self.keys.sites == sites
            && self.keys.cells.iter().all(|(_, group)| (group.0 as usize) < sites)
    }

    /// The first of the sites and stacks, as many as `met` says; `None` when they cannot be.
    pub(super) fn sites(&self, met: &[usize; 6]) -> Option<Sites> {
        let [sites, nodes, places, modules, ..] = *met;
        let modules = self.modules.get(..modules)?.iter().cloned();
        let modules = modules.map(ModuleEntry::from).collect();
        let stacks = Stacks::kept(self.nodes.get(..nodes)?, self.places.get(..places)?, modules)?;
        Sites::kept(self.sites.get(..sites)?, stacks)
    }
}

impl From<ModuleEntry> for Module {
    fn from(entry: ModuleEntry) -> Self {
        let ModuleEntry { id, first, end, bias, loaded, unloaded, build_id, path } = entry;
        let [loaded, unloaded] = [loaded, unloaded].map(|time| time.map(|time| time.0));
        Module { id, first, end, bias, loaded, unloaded, build_id, path }
    }
}

impl From<Module> for ModuleEntry {
    fn from(module: Module) -> Self {
        let Module { id, first, end, bias, loaded, unloaded, build_id, path } = module;
        let [loaded, unloaded] = [loaded, unloaded].map(|time| time.map(Time));
        ModuleEntry { id, first, end, bias, loaded, unloaded, build_id, path }
    }
}
