//! Debug information that lies outside of the program and that its own refers to
//! (`-C split-debuginfo`): a file for each unit (`.dwo`), or a package of them all beside the program
//! (`.dwp`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use addr2line::SplitDwarfLoad;
use gimli::{DwarfPackage, DwoId, Reader as _};

use super::{Bytes, sections};
use crate::file;

/// Where the pieces of one program are looked for.
pub(crate) struct SplitFiles {
    /// Files that a package may lie beside: the program, and what has its debug information.
    programs: Vec<PathBuf>,
    /// Directories the user named.
    directories: Vec<PathBuf>,
    /// Looked for when the first piece is needed.
    package: Option<Option<DwarfPackage<Bytes>>>,
    /// Why the first piece that is missing is.
    missing: Option<String>,
}

impl SplitFiles {
    /// The pieces of a program that may be any of these files.
    pub(crate) fn new(programs: Vec<PathBuf>, directories: &[PathBuf]) -> SplitFiles {
        SplitFiles { programs, directories: directories.to_vec(), package: None, missing: None }
    }

    /// Why a piece that was needed could not be had.
    pub(crate) fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    /// The piece that is wanted.
    pub(crate) fn load(
        &mut self,
        wanted: &SplitDwarfLoad<Bytes>,
    ) -> Option<Arc<gimli::Dwarf<Bytes>>> {
        let (programs, directories) = (&self.programs, &self.directories);
        let package = self.package.get_or_insert_with(|| package(programs, directories)).as_ref();
        let packed =
            package.and_then(|it| it.find_cu(wanted.dwo_id, &wanted.parent).ok().flatten());
        if let Some(piece) = packed {
            return Some(Arc::new(piece));
        }
        let mut why = None;
        for path in self.candidates(wanted) {
            match piece(&path, wanted.dwo_id) {
                Ok(mut piece) => {
                    piece.make_dwo(&wanted.parent);
                    return Some(Arc::new(piece));
                }
                // The first is where the compiler put it.
                Err(error) => why = why.or(Some(error)),
            }
        }
        self.missing = self.missing.take().or(why);
        None
    }

    /// Files that may be the piece, the compiler's own place first.
    fn candidates(&self, wanted: &SplitDwarfLoad<Bytes>) -> Vec<PathBuf> {
        let Some(path) = wanted.path.as_ref().and_then(path) else { return Vec::new() };
        let built = wanted.comp_dir.as_ref().and_then(self::path).unwrap_or_default();
        let mut found = vec![built.join(&path)];
        if let Some(name) = path.file_name() {
            let beside = self.programs.iter().filter_map(|program| program.parent());
            let others = self.directories.iter().map(PathBuf::as_path).chain(beside);
            found.extend(others.map(|directory| directory.join(name)));
        }
        found
    }
}

/// The first package that there is.
fn package(programs: &[PathBuf], directories: &[PathBuf]) -> Option<DwarfPackage<Bytes>> {
    let with_ending = |path: &Path| {
        let mut name = path.file_name()?.to_owned();
        name.push(".dwp");
        Some(path.with_file_name(name))
    };
    let beside: Vec<_> = programs.iter().filter_map(|program| with_ending(program)).collect();
    let names = beside.iter().filter_map(|path| path.file_name());
    let named = names.flat_map(|name| directories.iter().map(move |it| it.join(name)));
    named.chain(beside.iter().cloned()).find_map(|path| {
        let bytes = file::read(&path).ok()?;
        let object = object::File::parse(&bytes[..]).ok()?;
        let (load, empty) = sections(&object, |id| id.dwo_name());
        DwarfPackage::load(load, empty).ok()
    })
}

/// The unit with this id in a file of one.
fn piece(path: &Path, id: DwoId) -> Result<gimli::Dwarf<Bytes>, String> {
    let failed = |why: &str| format!("{}: {why}", path.display());
    let bytes = file::read(path).map_err(|error| failed(&error.to_string()))?;
    let object = object::File::parse(&bytes[..]).map_err(|_| failed("it is no ELF file"))?;
    let (load, _) = sections(&object, |id| id.dwo_name());
    let mut piece = gimli::Dwarf::load(load).map_err(|error| failed(&error.to_string()))?;
    piece.file_type = gimli::DwarfFileType::Dwo;
    let header = piece.units().next().ok().flatten();
    let unit = header.and_then(|header| piece.unit(header).ok());
    if unit.and_then(|unit| unit.dwo_id) == Some(id) {
        return Ok(piece);
    }
    Err(failed("it was built anew since"))
}

fn path(text: &Bytes) -> Option<PathBuf> {
    Some(PathBuf::from(text.to_string_lossy().ok()?.into_owned()))
}
