//! Names for the places of stacks: those of the trace itself, or of the program's files.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use foldhash::fast::RandomState;
use slabscope_symbols::{BuildId, Finding, Frame as Symbol, Module, Options, Symbolizer};

use crate::frame::Frame;
use crate::stacks::{Place, PlaceId, StackId, Stacks};

/// Finds names when they are asked for, each once.
pub(crate) struct Names {
    symbolizer: Symbolizer,
    /// How many modules of the trace it knows.
    modules: usize,
    by_place: HashMap<PlaceId, Arc<[Arc<Frame>]>, RandomState>,
    frames: HashMap<Frame, Arc<Frame>, RandomState>,
}

impl Names {
    /// Names from the program's files, found as `options` say.
    pub(crate) fn new(options: Options) -> Names {
        Names {
            symbolizer: Symbolizer::new(Vec::new(), options),
            modules: 0,
            by_place: HashMap::default(),
            frames: HashMap::default(),
        }
    }

    /// What was found for the modules that addresses were looked up in.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        self.symbolizer.findings()
    }

    /// The names of all places of these stacks.
    pub(crate) fn all(&mut self, stacks: &Stacks) -> Named {
        let count = stacks.all_places().len() as u32;
        Named { places: (0..count).map(|n| self.of_place(stacks, PlaceId(n))).collect() }
    }

    /// The frames of a stack, innermost first, without the allocator's own.
    pub(crate) fn stack(&mut self, stacks: &Stacks, stack: StackId) -> Vec<Arc<Frame>> {
        flat(stacks.places(stack).map(|place| self.of_place(stacks, place)))
    }

    fn of_place(&mut self, stacks: &Stacks, place: PlaceId) -> Arc<[Arc<Frame>]> {
        if let Some(frames) = self.by_place.get(&place) {
            return Arc::clone(frames);
        }
        let frames: Arc<[Arc<Frame>]> = match stacks.place(place) {
            Some(Place::Named(frames)) => Arc::clone(frames),
            Some(&Place::Address { module, address }) => {
                self.learn_modules(stacks);
                let found = self.symbolizer.frames(module.map(|number| number as usize), address);
                found.iter().map(|symbol| self.frame(symbol)).collect()
            }
            None => [].into(),
        };
        self.by_place.insert(place, Arc::clone(&frames));
        frames
    }

    /// The frame, kept once however many places have it.
    fn frame(&mut self, symbol: &Symbol) -> Arc<Frame> {
        let frame = Frame {
            function: symbol.name.full.as_str().into(),
            file: Arc::clone(&symbol.file),
            line: u64::from(symbol.line),
        };
        let made = self.frames.entry(frame).or_insert_with_key(|frame| Arc::new(frame.clone()));
        Arc::clone(made)
    }

    fn learn_modules(&mut self, stacks: &Stacks) {
        for entry in stacks.modules().iter().skip(self.modules) {
            self.symbolizer.add(Module {
                first: entry.first,
                end: entry.end,
                bias: entry.bias,
                build_id: BuildId(entry.build_id.clone()),
                path: Path::new(&entry.path).to_owned(),
            });
            self.modules += 1;
        }
    }
}

/// The names of all places, once they are found.
#[derive(Debug, Default)]
pub(crate) struct Named {
    places: Vec<Arc<[Arc<Frame>]>>,
}

impl Named {
    /// The frames of a stack, innermost first, without the allocator's own.
    pub(crate) fn stack(&self, stacks: &Stacks, stack: StackId) -> Vec<Arc<Frame>> {
        flat(stacks.places(stack).filter_map(|place| self.places.get(place.0 as usize).cloned()))
    }
}

/// The frames of places, those left out that stand for allocating itself.
fn flat(places: impl Iterator<Item = Arc<[Arc<Frame>]>>) -> Vec<Arc<Frame>> {
    let mut frames: Vec<Arc<Frame>> = Vec::new();
    for place in places {
        let own = place.iter().skip_while(|frame| frames.is_empty() && frame.is_allocator());
        let own: Vec<_> = own.cloned().collect();
        frames.extend(own);
    }
    frames
}

impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Names").field("places", &self.by_place.len()).finish_non_exhaustive()
    }
}
