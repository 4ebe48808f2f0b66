//! Debug information: functions, those inlined into them, files and lines.

mod describe;
mod split;

use std::collections::HashMap;
use std::sync::Arc;

use addr2line::{Context, LookupResult};
use foldhash::fast::RandomState;
use gimli::{DwarfFileType, DwoId, RunTimeEndian, UnitRef};
use object::{Object, ObjectSection};
pub(crate) use split::SplitFiles;

use crate::frame::Frame;
use crate::name::{Name, Parts};
use describe::{Described, Units};

type Bytes = gimli::EndianArcSlice<RunTimeEndian>;

/// The debug information of one file.
pub(crate) struct Dwarf {
    context: Context<Bytes>,
    split: SplitFiles,
    units: Units,
    /// By unit and place in it.
    functions: HashMap<(UnitId, usize), Described, RandomState>,
}

/// A unit among all of a file and of those split off from it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum UnitId {
    /// By its place in the file.
    Own(usize),
    Split(DwoId),
}

impl Dwarf {
    /// Takes the sections of a file; `None` where it has none, or none that can be read.
    pub(crate) fn new(file: &object::File<'_>, split: SplitFiles) -> Option<Dwarf> {
        file.section_by_name(".debug_info").filter(|section| section.size() > 0)?;
        let (load, _) = sections(file, |id| Some(id.name()));
        let dwarf = Arc::new(gimli::Dwarf::load(load).ok()?);
        let context = Context::from_arc_dwarf(Arc::clone(&dwarf)).ok()?;
        Some(Dwarf { context, split, units: Units::new(dwarf), functions: HashMap::default() })
    }

    /// Why a part that was split off could not be had, if one was needed.
    pub(crate) fn missing(&self) -> Option<&str> {
        self.split.missing()
    }

    /// The functions at an address of the file, innermost first. `symbol` is what the linker calls
    /// the outermost.
    pub(crate) fn frames(&mut self, address: u64, symbol: Option<&str>) -> Vec<Frame> {
        let Ok(mut found) = whole(self.context.find_frames(address), &mut self.split) else {
            return Vec::new();
        };
        let mut frames = Vec::new();
        let unit = whole(self.context.find_dwarf_and_unit(address), &mut self.split);
        while let Ok(Some(frame)) = found.next() {
            let location = frame.location.as_ref();
            let file = location.and_then(|location| location.file).unwrap_or_default();
            let line = location.and_then(|location| location.line).unwrap_or(0);
            let described = match (&unit, frame.dw_die_offset) {
                (Some(unit), Some(offset)) => {
                    let key = (UnitId::of(unit), offset.0);
                    let describe = || self.units.describe(unit, offset);
                    self.functions.entry(key).or_insert_with(describe).clone()
                }
                _ => Described::default(),
            };
            frames.push(Raw { described, file: file.to_owned(), line });
        }
        let outermost = frames.len().saturating_sub(1);
        let named = |(depth, raw): (usize, Raw)| {
            let is_inlined = depth < outermost;
            raw.named(symbol.filter(|_| !is_inlined), is_inlined)
        };
        frames.into_iter().enumerate().map(named).collect()
    }
}

/// A function at a place, before it has its name.
struct Raw {
    described: Described,
    file: String,
    line: u32,
}

impl Raw {
    fn named(self, symbol: Option<&str>, is_inlined: bool) -> Frame {
        let Described { linkage, source, arguments } = &self.described;
        let parts = Parts {
            linkage: symbol.or(linkage.as_deref()),
            source: source.as_deref(),
            arguments,
            file: &self.file,
        };
        let name = Name::new(parts).unwrap_or_default();
        let (name, file) = (Arc::new(name), self.file.into());
        Frame { name, file, line: self.line, is_inlined, shares_code: false }
    }
}

/// Where gimli finds sections, by the names that `name` gives, and one that has nothing.
fn sections<'a>(
    file: &'a object::File<'_>,
    name: impl Fn(gimli::SectionId) -> Option<&'static str> + 'a,
) -> (impl FnMut(gimli::SectionId) -> Result<Bytes, gimli::Error> + 'a, Bytes) {
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let bytes = move |data: &[u8]| Bytes::new(Arc::from(data), endian);
    let load = move |id| {
        let section = name(id).and_then(|name| file.section_by_name(name));
        let data = section.and_then(|section| section.uncompressed_data().ok());
        Ok(bytes(&data.unwrap_or_default()))
    };
    (load, bytes(&[]))
}

/// What a lookup finds, with the parts of the debug information that it asks for.
fn whole<L>(mut lookup: LookupResult<L>, split: &mut SplitFiles) -> L::Output
where
    L: addr2line::LookupContinuation<Buf = Bytes>,
{
    loop {
        match lookup {
            LookupResult::Output(output) => return output,
            LookupResult::Load { load, continuation } => {
                lookup = continuation.resume(split.load(&load));
            }
        }
    }
}

impl UnitId {
    fn of(unit: &UnitRef<'_, Bytes>) -> UnitId {
        match unit.dwo_id {
            Some(id) if unit.dwarf.file_type == DwarfFileType::Dwo => UnitId::Split(id),
            _ => UnitId::Own(unit.header.debug_info_offset().map_or(usize::MAX, |it| it.0)),
        }
    }
}
