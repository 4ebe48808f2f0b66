//! Addresses of a process become frames, with each module's files opened once.

use std::path::PathBuf;
use std::sync::Arc;

use crate::frame::Frame;
use crate::module::Module;
use crate::module_names::ModuleNames;

/// Where to look, beside the usual places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Directories with programs, libraries, and files of debug information.
    pub directories: Vec<PathBuf>,
    /// A directory where names are kept that were found; none for no such thing.
    pub cache: Option<PathBuf>,
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
    /// Why the module's own file was not taken, or a file that has a part of its debug information.
    pub refused: Option<String>,
    /// Whether some names are missing: those from another time are not for all addresses, or a part of
    /// the debug information was not found.
    pub is_partial: bool,
}

/// Names for the addresses of one process.
pub struct Symbolizer {
    modules: Vec<Module>,
    /// For each module, once an address in it was asked for.
    names: Vec<Option<ModuleNames>>,
    options: Options,
}

impl Symbolizer {
    /// A symbolizer for addresses in these modules. Nothing is opened before it is needed.
    pub fn new(modules: Vec<Module>, options: Options) -> Symbolizer {
        let names = modules.iter().map(|_| None).collect();
        Symbolizer { modules, names, options }
    }

    /// Adds a module, whose number is one more than the last one's.
    pub fn add(&mut self, module: Module) {
        self.modules.push(module);
        self.names.push(None);
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
            Some((number, module, module.file_address(address)?))
        });
        let Some((number, module, in_file)) = place else {
            return [Frame::unknown(format!("{address:#x}"))].into();
        };
        let names =
            self.names[number].get_or_insert_with(|| ModuleNames::new(module, &self.options));
        names.frames(module, &self.options, in_file)
    }

    /// Keeps what was found in the cache, if there is one, for whoever asks for it next.
    pub fn keep(&mut self) {
        let Some(cache) = &self.options.cache else { return };
        for (module, names) in self.modules.iter().zip(&mut self.names) {
            if let Some(names) = names {
                names.keep(module, cache);
            }
        }
    }

    /// What was found for the modules that addresses were looked up in.
    pub fn findings(&self) -> Vec<Finding> {
        let asked = self.modules.iter().zip(&self.names);
        asked.filter_map(|(module, names)| Some(names.as_ref()?.finding(module))).collect()
    }
}
