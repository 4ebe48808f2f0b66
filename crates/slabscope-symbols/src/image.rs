//! The files behind a module, and the names they give its addresses.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use object::{Object, ObjectSection};

use crate::dwarf::{Dwarf, SplitFiles};
use crate::frame::Frame;
use crate::module::{BuildId, Module};
use crate::name::{Name, Parts};
use crate::symbol_table::SymbolTable;
use crate::symbolizer::Source;
use crate::{debug_file, file};

/// What is known of a module's addresses.
#[derive(Default)]
pub(crate) struct Image {
    dwarf: Option<Dwarf>,
    symbols: SymbolTable,
    /// The file that has the debug information, or else the symbols.
    pub(crate) file: Option<PathBuf>,
    /// Why the module's own file was not taken.
    pub(crate) refused: Option<String>,
}

impl Image {
    /// Looks for the module's files, also in the directories the user named.
    pub(crate) fn open(module: &Module, directories: &[PathBuf]) -> Image {
        let mut image = Image::default();
        let own = image.own_file(module, directories);
        let split =
            |path: &Path| SplitFiles::new(vec![module.path.clone(), path.to_owned()], directories);
        let mut debug = Vec::new();
        match &own {
            Some((path, bytes)) => {
                if let Ok(file) = object::File::parse(&bytes[..]) {
                    image.dwarf = Dwarf::new(&file, split(path));
                    if image.dwarf.is_none() {
                        debug = debug_file::candidates(path, &file, &module.build_id, directories);
                    }
                    image.file = Some(path.clone());
                }
            }
            None => debug = debug_file::by_build_id(&module.build_id, directories),
        }
        let debug =
            debug.iter().find_map(|path| Some((path, fitting(path, &module.build_id).ok()?)));
        let parsed: Vec<_> = [own.as_ref().map(|(_, bytes)| bytes), debug.as_ref().map(|(_, b)| b)]
            .into_iter()
            .flatten()
            .filter_map(|bytes| object::File::parse(&bytes[..]).ok())
            .collect();
        if let (Some((path, _)), Some(file)) = (&debug, parsed.last()) {
            image.dwarf = Dwarf::new(file, split(path));
            image.file = Some((*path).clone());
        }
        image.symbols = SymbolTable::new(&parsed.iter().collect::<Vec<_>>());
        image
    }

    /// The file that was mapped, if it is still the same.
    fn own_file(&mut self, module: &Module, directories: &[PathBuf]) -> Option<(PathBuf, Vec<u8>)> {
        let named = debug_file::with_name(&module.path, directories);
        for path in named.iter().chain([&module.path]) {
            match fitting(path, &module.build_id) {
                Ok(bytes) => return Some((path.clone(), bytes)),
                Err(why) => self.refused = Some(why),
            }
        }
        None
    }

    /// How much is known.
    pub(crate) fn source(&self) -> Source {
        match &self.dwarf {
            Some(_) => Source::DebugInformation,
            None if !self.symbols.is_empty() => Source::Symbols,
            None => Source::Nothing,
        }
    }

    /// Why a part of the debug information could not be had that was needed.
    pub(crate) fn missing(&self) -> Option<&str> {
        self.dwarf.as_ref().and_then(Dwarf::missing)
    }

    /// The functions at an address of the file, innermost first; none where nothing is known.
    pub(crate) fn frames(&mut self, address: u64) -> Vec<Frame> {
        let symbol = self.symbols.at(address);
        let name = symbol.map(|(name, _)| &**name);
        let shares_code = symbol.is_some_and(|(_, has_others)| has_others);
        if let Some(dwarf) = &mut self.dwarf {
            // Where several functions share their code, only debug information may know which.
            let sole = symbol.filter(|(_, has_others)| !has_others).map(|(name, _)| &**name);
            let mut frames = dwarf.frames(address, sole);
            if let Some(outermost) = frames.last_mut() {
                outermost.shares_code = shares_code;
            }
            if frames.iter().any(|frame| !frame.name.full.is_empty()) {
                return frames;
            }
        }
        let name =
            name.and_then(|name| Name::new(Parts { linkage: Some(name), ..Parts::default() }));
        let frame = |name| Frame { name: Arc::new(name), shares_code, ..Frame::default() };
        name.map(frame).into_iter().collect()
    }
}

/// The bytes of the file, if it is of this build.
fn fitting(path: &Path, build_id: &BuildId) -> Result<Vec<u8>, String> {
    let bytes = file::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let file = object::File::parse(&bytes[..])
        .map_err(|_| format!("{}: it is no ELF file", path.display()))?;
    let theirs = of_file(&file);
    if !build_id.is_empty() && theirs != *build_id {
        return Err(format!("{}: it was built anew since", path.display()));
    }
    Ok(bytes)
}

/// What tells this build from others; empty where the file has nothing.
fn of_file(file: &object::File<'_>) -> BuildId {
    if let Ok(Some(id)) = file.build_id() {
        return BuildId(id.to_vec());
    }
    // Programs without sections are left with the segment only, which the line above knows too.
    let note = file.section_by_name(".note.gnu.build-id");
    let bytes = note.and_then(|section| section.data().ok()).and_then(|data| data.get(16..));
    BuildId(bytes.unwrap_or_default().to_vec())
}
