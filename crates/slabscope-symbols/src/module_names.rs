//! The names of one module: those found before, and its files where these do not suffice.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::cache::{Cache, Stored};
use crate::frame::Frame;
use crate::image::Image;
use crate::module::Module;
use crate::name::Name;
use crate::symbolizer::{Finding, Options, Source};

/// The names of one module.
pub(crate) struct ModuleNames {
    /// What was known before this run, and what the module's files added to it.
    stored: Stored,
    /// Opened when it is needed.
    image: Option<Image>,
    /// What was asked for in this run.
    frames: HashMap<u64, Arc<[Frame]>, RandomState>,
    /// Whether something was added.
    is_new: bool,
    /// How many addresses nothing was known of.
    unknown: u64,
}

impl ModuleNames {
    /// With what is known from before; the module's files are not opened yet.
    pub(crate) fn new(module: &Module, options: &Options) -> ModuleNames {
        let before = options.cache.as_ref().and_then(|it| Cache::new(it).load(&module.build_id));
        ModuleNames {
            stored: before.unwrap_or_else(Stored::nothing),
            image: None,
            frames: HashMap::default(),
            is_new: false,
            unknown: 0,
        }
    }

    /// The functions at an address of the file, innermost first; at least one.
    pub(crate) fn frames(
        &mut self,
        module: &Module,
        options: &Options,
        address: u64,
    ) -> Arc<[Frame]> {
        if let Some(frames) = self.frames.get(&address) {
            return Arc::clone(frames);
        }
        let mut frames = self.find(module, options, address);
        if frames.is_empty() {
            self.unknown += 1;
            let file = module.path.file_name().unwrap_or_default().to_string_lossy();
            frames = [Frame::unknown(format!("{file}+{address:#x}"))].into();
        }
        self.frames.insert(address, Arc::clone(&frames));
        frames
    }

    /// Symbols alone are asked for anew: debug information may have been installed since.
    fn find(&mut self, module: &Module, options: &Options, address: u64) -> Arc<[Frame]> {
        let before = self.stored.frames.get(&address);
        if let Some(frames) = before.filter(|_| self.stored.source == Source::DebugInformation) {
            return Arc::clone(frames);
        }
        let image = self.image.get_or_insert_with(|| Image::open(module, &options.directories));
        let source = image.source();
        if source < self.stored.source {
            return before.map_or_else(|| image.frames(address).into(), Arc::clone);
        }
        let frames: Arc<[Frame]> = image.frames(address).into();
        if source > self.stored.source {
            self.stored = Stored { source, file: image.file.clone(), ..Stored::nothing() };
        }
        if source > Source::Nothing {
            self.is_new |= self.stored.frames.insert(address, Arc::clone(&frames)).is_none();
        }
        frames
    }

    /// Keeps for the next time what was found. Names are worth nothing but time: where they cannot be
    /// kept, they are found anew.
    pub(crate) fn keep(&mut self, module: &Module, cache: &Path) {
        // What is missing may be there the next time.
        let is_whole = self.image.as_ref().is_some_and(|image| image.missing().is_none());
        if !std::mem::take(&mut self.is_new) || !is_whole {
            return;
        }
        let cache = Cache::new(cache);
        // The module may have been there twice, or another process been quicker.
        if let Some(other) = cache.load(&module.build_id)
            && other.source == self.stored.source
        {
            for (address, frames) in other.frames {
                self.stored.frames.entry(address).or_insert(frames);
            }
        }
        let _ = cache.save(&module.build_id, &self.stored);
    }

    /// What was found, if anything was asked for.
    pub(crate) fn finding(&self, module: &Module) -> Finding {
        let (file, source) = (self.stored.file.clone(), self.stored.source);
        let opened = self.image.as_ref();
        let refused = opened.filter(|it| it.file.as_ref() != Some(&module.path));
        let refused = refused.and_then(|image| image.refused.clone());
        let is_closed = opened.is_some_and(|it| it.source() == Source::Nothing);
        let is_cut_off = source > Source::Nothing && is_closed && self.unknown > 0;
        let missing = opened.and_then(Image::missing);
        let refused = missing.map(str::to_owned).or(refused);
        let is_partial = is_cut_off || missing.is_some();
        Finding { path: module.path.clone(), source, file, refused, is_partial }
    }
}

impl Frame {
    /// A frame of nothing but a name.
    pub(crate) fn unknown(name: String) -> Frame {
        Frame { name: Arc::new(Name::plain(name)), ..Frame::default() }
    }
}
