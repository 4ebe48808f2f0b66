//! What debug information says of a function, in whichever of its descriptions that stands.

use std::sync::Arc;

use gimli::{
    AttributeValue, DebugInfoOffset, DwarfFileType, Reader as _, UnitHeader, UnitOffset, UnitRef,
};

use super::Bytes;

/// How many references between descriptions of one function are followed; there are two at most
/// unless they go in circles.
const REFERENCES_MAX: usize = 8;

/// What the descriptions of a function say.
#[derive(Clone, Debug, Default)]
pub(super) struct Described {
    /// The name for the linker.
    pub(super) linkage: Option<String>,
    /// The name in the source.
    pub(super) source: Option<String>,
    /// The types in the places of its type parameters.
    pub(super) arguments: Vec<String>,
}

/// What a description refers to.
enum Reference {
    SameUnit(UnitOffset),
    Anywhere(DebugInfoOffset),
}

impl Described {
    /// Takes what is not known yet from the description at `offset`; returns where it refers to.
    fn take(&mut self, unit: &UnitRef<'_, Bytes>, offset: UnitOffset) -> Option<Reference> {
        let entry = unit.entry(offset).ok()?;
        let text = |name| entry.attr_value(name).and_then(|value| text(unit, value));
        if self.linkage.is_none() {
            self.linkage = text(gimli::DW_AT_linkage_name);
        }
        if self.source.is_none() {
            self.source = text(gimli::DW_AT_name);
        }
        if self.arguments.is_empty() && entry.has_children() {
            self.arguments = arguments(unit, offset);
        }
        let origin = entry
            .attr_value(gimli::DW_AT_abstract_origin)
            .or_else(|| entry.attr_value(gimli::DW_AT_specification));
        match origin? {
            AttributeValue::UnitRef(offset) => Some(Reference::SameUnit(offset)),
            AttributeValue::DebugInfoRef(offset) => Some(Reference::Anywhere(offset)),
            _ => None,
        }
    }
}

/// All units, for references from one to another.
pub(super) struct Units {
    dwarf: Arc<gimli::Dwarf<Bytes>>,
    /// By where they begin, in that order; each is read when it is first referred to.
    all: Vec<Unit>,
}

struct Unit {
    start: usize,
    header: UnitHeader<Bytes>,
    read: Option<Box<gimli::Unit<Bytes>>>,
}

impl Units {
    pub(super) fn new(dwarf: Arc<gimli::Dwarf<Bytes>>) -> Units {
        let mut all = Vec::new();
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            if let Some(offset) = header.debug_info_offset() {
                all.push(Unit { start: offset.0, header, read: None });
            }
        }
        Units { dwarf, all }
    }

    /// Reads the description of a function, and those it refers to.
    pub(super) fn describe(&mut self, unit: &UnitRef<'_, Bytes>, offset: UnitOffset) -> Described {
        let mut described = Described::default();
        let mut next = described.take(unit, offset);
        let mut other = None;
        for _ in 0..REFERENCES_MAX {
            next = match next {
                None => break,
                Some(Reference::SameUnit(offset)) => {
                    let unit = other.map_or(Some(*unit), |index| self.at(index));
                    unit.and_then(|unit| described.take(&unit, offset))
                }
                // What is split off refers to nothing outside of itself.
                Some(Reference::Anywhere(_)) if unit.dwarf.file_type == DwarfFileType::Dwo => break,
                Some(Reference::Anywhere(offset)) => self.find(offset).and_then(|index| {
                    other = Some(index);
                    let unit = self.at(index)?;
                    described.take(&unit, offset.to_unit_offset(&unit.header)?)
                }),
            };
        }
        described
    }

    /// The unit that this place lies in.
    fn find(&mut self, offset: DebugInfoOffset) -> Option<usize> {
        let index = self.all.partition_point(|unit| unit.start <= offset.0).checked_sub(1)?;
        let unit = self.all.get_mut(index)?;
        if unit.read.is_none() {
            unit.read = self.dwarf.unit(unit.header.clone()).ok().map(Box::new);
        }
        Some(index)
    }

    fn at(&self, index: usize) -> Option<UnitRef<'_, Bytes>> {
        let unit = self.all.get(index)?.read.as_ref()?;
        Some(UnitRef::new(&self.dwarf, unit))
    }
}

fn text(unit: &UnitRef<'_, Bytes>, value: AttributeValue<Bytes>) -> Option<String> {
    let bytes = unit.attr_string(value).ok()?;
    bytes.to_string_lossy().ok().map(|text| text.into_owned())
}

/// The types in the places of a function's type parameters.
fn arguments(unit: &UnitRef<'_, Bytes>, function: UnitOffset) -> Vec<String> {
    let mut arguments = Vec::new();
    let Ok(mut tree) = unit.entries_tree(Some(function)) else { return arguments };
    let Ok(root) = tree.root() else { return arguments };
    let mut children = root.children();
    while let Ok(Some(child)) = children.next() {
        let entry = child.entry();
        if entry.tag() != gimli::DW_TAG_template_type_parameter {
            continue;
        }
        if let Some(AttributeValue::UnitRef(offset)) = entry.attr_value(gimli::DW_AT_type)
            && let Ok(described) = unit.entry(offset)
            && let Some(name) = described.attr_value(gimli::DW_AT_name)
            && let Some(name) = text(unit, name)
        {
            arguments.push(name);
        }
    }
    arguments
}
