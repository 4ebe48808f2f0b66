//! Nodes of ordered maps and sets.

use super::elements::is_allocator;
use super::{Memory, Rule};
use crate::name::Name;

pub(super) const RULES: &[Rule] =
    &[Rule { module: "alloc::collections::btree", functions: &[], means: node }];

fn node(name: &Name, inner: Option<&Memory>) -> Option<Memory> {
    match (&name.arguments[..], inner) {
        ([key, value, ..], None) if !is_allocator(key) && !is_allocator(value) => {
            Some(of(&[key, value]))
        }
        _ => None,
    }
}

/// The map with these keys and values; a set has none.
pub(super) fn of(arguments: &[&str]) -> Memory {
    let key = arguments.first().copied().unwrap_or("?");
    Memory::Type(match arguments.get(1) {
        Some(&"alloc::collections::btree::set_val::SetValZST") | None => {
            format!("alloc::collections::btree::set::BTreeSet<{key}>")
        }
        Some(value) => format!("alloc::collections::btree::map::BTreeMap<{key}, {value}>"),
    })
}
