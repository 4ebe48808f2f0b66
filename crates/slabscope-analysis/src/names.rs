//! Names for the places of stacks: those of the trace itself, or of the program's files.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use foldhash::fast::RandomState;
use slabscope_symbols::types::Inference;
use slabscope_symbols::{BuildId, Finding, Frame as Symbol, Module, Options, Symbolizer};

use crate::frame::{Frame, without_allocator};
use crate::site_type::SiteType;
use crate::sites::Site;
use crate::stacks::{Place, PlaceId, StackId, Stacks};

/// Finds names when they are asked for, each once.
pub(crate) struct Names {
    symbolizer: Symbolizer,
    /// How many modules of the trace it knows.
    modules: usize,
    by_place: HashMap<PlaceId, Arc<[Arc<Frame>]>, RandomState>,
    frames: HashMap<Frame, Arc<Frame>, RandomState>,
    /// By stack and alignment.
    by_stack: HashMap<(StackId, Option<u64>), Option<SiteType>, RandomState>,
}

impl Names {
    /// Names from the program's files, found as `options` say.
    pub(crate) fn new(options: Options) -> Names {
        Names {
            symbolizer: Symbolizer::new(Vec::new(), options),
            modules: 0,
            by_place: HashMap::default(),
            frames: HashMap::default(),
            by_stack: HashMap::default(),
        }
    }

    /// Keeps names for the next time, and says what was found for the modules that addresses were
    /// looked up in.
    pub(crate) fn finish(&mut self) -> Vec<Finding> {
        self.symbolizer.keep();
        self.symbolizer.findings()
    }

    /// The type that owns the memory of a site.
    pub(crate) fn type_of(&mut self, stacks: &Stacks, site: &Site) -> Option<SiteType> {
        if site.type_of.is_some() {
            return site.type_of.clone();
        }
        let (stack, align) = (site.stack, site.align);
        if let Some(known) = self.by_stack.get(&(stack, align)) {
            return known.clone();
        }
        let mut inference = Inference::default();
        for place in stacks.places(stack) {
            let frames = self.symbols(stacks, place);
            if frames.iter().try_for_each(|frame| inference.frame(frame)).is_break() {
                break;
            }
        }
        let found = inference.finish(align).map(SiteType::from);
        self.by_stack.insert((stack, align), found.clone());
        found
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
            _ => {
                let found = self.symbols(stacks, place);
                found.iter().map(|symbol| self.frame(symbol)).collect()
            }
        };
        self.by_place.insert(place, Arc::clone(&frames));
        frames
    }

    /// What the program's files say of a place; nothing where the trace itself has its names.
    fn symbols(&mut self, stacks: &Stacks, place: PlaceId) -> Arc<[Symbol]> {
        let Some(&Place::Address { module, address }) = stacks.place(place) else {
            return [].into();
        };
        self.learn_modules(stacks);
        self.symbolizer.frames(module.map(|number| number as usize), address)
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

/// The frames of places, those left out that stand for allocating itself.
fn flat(places: impl Iterator<Item = Arc<[Arc<Frame>]>>) -> Vec<Arc<Frame>> {
    let mut frames: Vec<Arc<Frame>> = Vec::new();
    places.for_each(|place| frames.extend(place.iter().cloned()));
    let rest = without_allocator(&frames).len();
    frames.split_off(frames.len() - rest)
}

impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Names").field("places", &self.by_place.len()).finish_non_exhaustive()
    }
}
