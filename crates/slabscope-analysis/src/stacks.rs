//! Call stacks of the whole trace, each kept once: a stack is its innermost frame, and every frame
//! knows the one outside of it.

mod current;

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};
use slabscope_trace::alloc_free::{GenerationData, ModuleEntry};
use slabscope_trace::{Stack as TraceStack, Time};

use crate::frame::Frame;
use current::Current;

/// A stack: the number of its innermost node, in the order they were met; 0 is no stack.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub(crate) struct StackId(u32);

impl StackId {
    /// No stack.
    pub(crate) const NONE: StackId = StackId(0);

    /// Whether there is none.
    pub(crate) fn is_none(self) -> bool {
        self == StackId::NONE
    }
}

/// A place in the program, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct PlaceId(pub(crate) u32);

/// A place in the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Place {
    /// An address to look up, and the module it is in.
    Address {
        /// Its number among all modules of the trace.
        module: Option<u32>,
        /// The address in the process.
        address: u64,
    },
    /// What the trace itself tells, innermost first.
    Named(Arc<[Arc<Frame>]>),
}

/// One level of a stack, and what is outside of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Node {
    outer: StackId,
    place: PlaceId,
}

/// All stacks so far.
#[derive(Debug)]
pub(crate) struct Stacks {
    /// The first stands for no stack.
    nodes: Vec<Node>,
    by_node: HashMap<Node, StackId, RandomState>,
    places: Interned<Place>,
    modules: Vec<ModuleEntry>,
    /// The frames of this generation.
    current: Current,
    /// The modules that are there in it.
    present: Vec<(u32, ModuleEntry)>,
}

impl Default for Stacks {
    fn default() -> Self {
        Stacks {
            nodes: vec![Node { outer: StackId::NONE, place: PlaceId(0) }],
            by_node: HashMap::default(),
            places: Interned::default(),
            modules: Vec::new(),
            current: Current::default(),
            present: Vec::new(),
        }
    }
}

impl Stacks {
    /// Takes in the frames and modules of a generation that begins at this time.
    pub(crate) fn take(&mut self, data: &GenerationData, start: Time) {
        let modules = self.modules_of(&data.modules, start);
        let mut current = std::mem::take(&mut self.current);
        current.begin(data.frames.len(), modules == self.present);
        for frame in &data.frames {
            let outer = current.get(frame.parent).unwrap_or_default();
            let address = frame.lookup_address();
            current.tell(frame.id, (address, outer), || {
                let place = Place::Address { module: find(&modules, address), address };
                let place = self.places.number(place);
                self.node(outer, place)
            });
        }
        (self.current, self.present) = (current, modules);
    }

    /// The stack with this number in this generation; `named` gets the one of the standard table.
    pub(crate) fn at(
        &mut self,
        number: u64,
        named: impl FnOnce() -> Option<TraceStack>,
    ) -> StackId {
        // Where the trace has names, they are those of the files it was made from.
        let Some(named) = named() else {
            return self.current.get(number).unwrap_or_default();
        };
        let mut stack = StackId::NONE;
        let frames: Vec<_> = named.frames().collect();
        for frame in frames.iter().rev() {
            let frame = Frame {
                function: frame.function.to_str().into(),
                file: frame.file.to_str().into(),
                line: frame.line,
            };
            let place = self.places.number(Place::Named([Arc::new(frame)].into()));
            stack = self.node(stack, place);
        }
        stack
    }

    /// These stacks, places and modules; `None` when they cannot be.
    pub(crate) fn kept(
        nodes: &[Node],
        places: &[Place],
        modules: Vec<ModuleEntry>,
    ) -> Option<Stacks> {
        let mut kept = Stacks { modules, ..Stacks::default() };
        places.iter().for_each(|place| {
            kept.places.number(place.clone());
        });
        for &node in nodes.get(1..)? {
            // Outer levels come first, so that each walk ends.
            let is_known = (node.outer.0 as usize) < kept.nodes.len();
            if !is_known || node.place.0 as usize >= places.len() {
                return None;
            }
            kept.node(node.outer, node.place);
        }
        let counts = (kept.nodes.len(), kept.places.all.len());
        (counts == (nodes.len(), places.len())).then_some(kept)
    }

    /// All levels of all stacks, in the order of their numbers.
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The places of a stack, innermost first.
    pub(crate) fn places(&self, stack: StackId) -> impl Iterator<Item = PlaceId> {
        let node = |stack: &StackId| self.nodes.get(stack.0 as usize).map(|node| node.outer);
        let levels = std::iter::successors(Some(stack), node).take_while(|stack| !stack.is_none());
        levels.filter_map(|stack| Some(self.nodes.get(stack.0 as usize)?.place))
    }

    /// All places, in the order of their numbers.
    pub(crate) fn all_places(&self) -> &[Place] {
        &self.places.all
    }

    /// A place.
    pub(crate) fn place(&self, place: PlaceId) -> Option<&Place> {
        self.places.all.get(place.0 as usize)
    }

    /// All modules, in the order of their numbers.
    pub(crate) fn modules(&self) -> &[ModuleEntry] {
        &self.modules
    }

    fn node(&mut self, outer: StackId, place: PlaceId) -> StackId {
        let next = StackId(u32::try_from(self.nodes.len()).unwrap_or(0));
        let node = Node { outer, place };
        *self.by_node.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            next
        })
    }

    /// The modules that are there in this generation, by number, the newest first.
    fn modules_of(&mut self, entries: &[ModuleEntry], start: Time) -> Vec<(u32, ModuleEntry)> {
        let mut present = Vec::new();
        for entry in entries {
            if entry.unloaded.is_some_and(|unloaded| unloaded < start) {
                continue;
            }
            let same = |known: &ModuleEntry| {
                (known.first, known.end, known.bias) == (entry.first, entry.end, entry.bias)
                    && (&known.build_id, &known.path) == (&entry.build_id, &entry.path)
            };
            let number = self.modules.iter().position(same).unwrap_or_else(|| {
                self.modules.push(entry.clone());
                self.modules.len() - 1
            });
            present.push((number as u32, entry.clone()));
        }
        present.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.loaded));
        present
    }
}

fn find(modules: &[(u32, ModuleEntry)], address: u64) -> Option<u32> {
    let has = |entry: &ModuleEntry| (entry.first..entry.end).contains(&address);
    modules.iter().find(|(_, entry)| has(entry)).map(|&(number, _)| number)
}

/// Values by number, each of them once.
#[derive(Debug)]
struct Interned<T> {
    all: Vec<T>,
    numbers: HashMap<T, PlaceId, RandomState>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Interned { all: Vec::new(), numbers: HashMap::default() }
    }
}

impl<T: Clone + Eq + Hash> Interned<T> {
    fn number(&mut self, value: T) -> PlaceId {
        let next = PlaceId(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
        *self.numbers.entry(value).or_insert_with_key(|value| {
            self.all.push(value.clone());
            next
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slabscope_trace::alloc_free::StackFrame;

    fn frame(id: u64, parent: u64, address: u64) -> StackFrame {
        StackFrame { id, parent, flags: 0, address }
    }

    fn module(first: u64, loaded: Option<i64>, unloaded: Option<i64>) -> ModuleEntry {
        ModuleEntry {
            id: 1,
            first,
            end: first + 100,
            bias: 0,
            loaded: loaded.map(Time),
            unloaded: unloaded.map(Time),
            build_id: vec![],
            path: format!("{loaded:?}"),
        }
    }

    #[test]
    fn a_stack_keeps_its_number_from_one_generation_to_the_next() {
        let mut stacks = Stacks::default();
        let frames = vec![frame(1, 0, 10), frame(2, 1, 20), frame(3, 1, 30)];
        stacks.take(&GenerationData { frames, ..GenerationData::default() }, Time(0));
        let (left, right) = (stacks.at(2, || None), stacks.at(3, || None));
        assert_ne!(left, right);
        let frames = vec![frame(7, 0, 10), frame(9, 7, 30)];
        stacks.take(&GenerationData { frames, ..GenerationData::default() }, Time(0));
        assert_eq!(stacks.at(9, || None), right);
        assert!(stacks.at(2, || None).is_none());
        let places: Vec<_> = stacks.places(left).map(|place| stacks.place(place)).collect();
        let place = |address| Some(Place::Address { module: None, address });
        assert_eq!(places, [place(19).as_ref(), place(9).as_ref()]);
    }

    #[test]
    fn an_address_belongs_to_the_module_that_is_there() {
        let mut stacks = Stacks::default();
        let take = |stacks: &mut Stacks, modules: &[ModuleEntry], start| {
            let data = GenerationData {
                frames: vec![frame(1, 0, 1051)],
                modules: modules.to_vec(),
                ..GenerationData::default()
            };
            stacks.take(&data, Time(start));
            let stack = stacks.at(1, || None);
            let place = stacks.places(stack).next().and_then(|place| stacks.place(place));
            match place.cloned() {
                Some(Place::Address { module, .. }) => module,
                other => panic!("{other:?}"),
            }
        };
        let old = module(1000, None, Some(50));
        let new = module(1000, Some(60), None);
        assert_eq!(take(&mut stacks, &[module(1000, None, None)], 10), Some(0));
        assert_eq!(take(&mut stacks, &[old.clone(), new.clone()], 100), Some(1));
        assert_eq!(take(&mut stacks, &[old, new], 40), Some(1), "the newest");
        assert_eq!(take(&mut stacks, &[], 200), None);
        assert_eq!(stacks.modules().len(), 2);
    }
}
