//! Debug information: functions, those inlined into them, files and lines.

mod describe;

use std::collections::HashMap;
use std::sync::Arc;

use addr2line::{Context, LookupResult};
use foldhash::fast::RandomState;
use gimli::{RunTimeEndian, UnitRef};
use object::{Object, ObjectSection};

use crate::frame::Frame;
use crate::name::{Name, Parts};
use describe::{Described, Units};

type Bytes = gimli::EndianArcSlice<RunTimeEndian>;

/// The debug information of one file.
pub(crate) struct Dwarf {
    context: Context<Bytes>,
    units: Units,
    /// By unit and place in it.
    functions: HashMap<(usize, usize), Described, RandomState>,
}

impl Dwarf {
    /// Takes the sections of a file; `None` where it has none, or none that can be read.
    pub(crate) fn new(file: &object::File<'_>) -> Option<Dwarf> {
        file.section_by_name(".debug_info").filter(|section| section.size() > 0)?;
        let endian =
            if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let load = |id: gimli::SectionId| -> Result<Bytes, gimli::Error> {
            let section = file.section_by_name(id.name());
            let data = section.and_then(|section| section.uncompressed_data().ok());
            Ok(Bytes::new(Arc::from(data.unwrap_or_default()), endian))
        };
        let dwarf = Arc::new(gimli::Dwarf::load(load).ok()?);
        let context = Context::from_arc_dwarf(Arc::clone(&dwarf)).ok()?;
        Some(Dwarf { context, units: Units::new(dwarf), functions: HashMap::default() })
    }

    /// The functions at an address of the file, innermost first. `symbol` is what the linker calls
    /// the outermost.
    pub(crate) fn frames(&mut self, address: u64, symbol: Option<&str>) -> Vec<Frame> {
        let Ok(mut found) = whole(self.context.find_frames(address)) else { return Vec::new() };
        let mut frames = Vec::new();
        let unit = whole(self.context.find_dwarf_and_unit(address));
        while let Ok(Some(frame)) = found.next() {
            let location = frame.location.as_ref();
            let file = location.and_then(|location| location.file).unwrap_or_default();
            let line = location.and_then(|location| location.line).unwrap_or(0);
            let described = match (&unit, frame.dw_die_offset) {
                (Some(unit), Some(offset)) => {
                    let key = (unit_number(unit), offset.0);
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

/// A lookup that needs no split debug information.
fn whole<L>(mut lookup: LookupResult<L>) -> L::Output
where
    L: addr2line::LookupContinuation<Buf = Bytes>,
{
    loop {
        match lookup {
            LookupResult::Output(output) => return output,
            // The pieces of `-C split-debuginfo=unpacked` are not looked for.
            LookupResult::Load { continuation, .. } => lookup = continuation.resume(None),
        }
    }
}

fn unit_number(unit: &UnitRef<'_, Bytes>) -> usize {
    unit.header.debug_info_offset().map_or(usize::MAX, |offset| offset.0)
}
