//! Addresses of a process become frames, with each module's files opened once.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::frame::Frame;
use crate::image::Image;
use crate::module::Module;
use crate::name::Name;

/// Where to look, beside the usual places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Directories with programs, libraries, and files of debug information.
    pub directories: Vec<PathBuf>,
}

/// How much is known of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Nothing: frames are the module's name and an offset.
    Nothing,
    /// The symbols of the file: names without lines, and no inlined functions.
    Symbols,
    /// Debug information.
    DebugInformation,
}

/// What was found for a module that addresses were looked up in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file it was, in the traced process.
    pub path: PathBuf,
    /// How much is known.
    pub source: Source,
    /// The file that it is known from.
    pub file: Option<PathBuf>,
    /// Why the module's own file was not taken, if it was not.
    pub refused: Option<String>,
}

/// Names for the addresses of one process.
pub struct Symbolizer {
    modules: Vec<Module>,
    images: Vec<Option<Image>>,
    options: Options,
    /// By module and address in its file.
    frames: HashMap<(usize, u64), Arc<[Frame]>, RandomState>,
}

impl Symbolizer {
    /// A symbolizer for addresses in these modules. Nothing is opened before it is needed.
    pub fn new(modules: Vec<Module>, options: Options) -> Symbolizer {
        let images = modules.iter().map(|_| None).collect();
        Symbolizer { modules, images, options, frames: HashMap::default() }
    }

    /// Adds a module, whose number is one more than the last one's.
    pub fn add(&mut self, module: Module) {
        self.modules.push(module);
        self.images.push(None);
    }

    /// The modules.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// The functions at an address of the process, innermost first.
    ///
    /// `module` is the number of the module it lies in, if that is known. There is always at least
    /// one frame: of an address that nothing is known of, it has the module's name and an offset.
    pub fn frames(&mut self, module: Option<usize>, address: u64) -> Arc<[Frame]> {
        let place = module.and_then(|number| {
            let module = self.modules.get(number)?;
            Some((number, module.file_address(address)?))
        });
        let Some((number, in_file)) = place else {
            return [unknown(format!("{address:#x}"))].into();
        };
        if let Some(frames) = self.frames.get(&(number, in_file)) {
            return Arc::clone(frames);
        }
        let module = &self.modules[number];
        let image = self.images[number]
            .get_or_insert_with(|| Image::open(module, &self.options.directories));
        let mut frames = image.frames(in_file);
        if frames.is_empty() {
            let file = module.path.file_name().unwrap_or_default().to_string_lossy();
            frames.push(unknown(format!("{file}+{in_file:#x}")));
        }
        let frames: Arc<[Frame]> = frames.into();
        self.frames.insert((number, in_file), Arc::clone(&frames));
        frames
    }

    /// What was found for the modules that addresses were looked up in.
    pub fn findings(&self) -> Vec<Finding> {
        let opened = self.modules.iter().zip(&self.images);
        opened
            .filter_map(|(module, image)| {
                let image = image.as_ref()?;
                let source = match (image.has_debug_information(), image.has_symbols()) {
                    (true, _) => Source::DebugInformation,
                    (false, true) => Source::Symbols,
                    (false, false) => Source::Nothing,
                };
                let (file, refused) = (image.file.clone(), image.refused.clone());
                let refused = refused.filter(|_| file.as_ref() != Some(&module.path));
                Some(Finding { path: module.path.clone(), source, file, refused })
            })
            .collect()
    }
}

fn unknown(name: String) -> Frame {
    Frame { name: Arc::new(Name::plain(name)), file: "".into(), line: 0, is_inlined: false }
}
