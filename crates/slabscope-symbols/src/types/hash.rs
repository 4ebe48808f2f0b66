//! Hash tables: those of the standard library are hashbrown's.

use super::elements::is_allocator;
use super::{Memory, Rule};
use crate::generics;
use crate::name::Name;

pub(super) const RULES: &[Rule] = &[
    Rule { module: "hashbrown::raw", functions: &[], means: table },
    Rule { module: "hashbrown::map", functions: &[], means: map },
];

/// `RawTable<T, A>`, whose inner part does not know what it holds.
fn table(name: &Name, inner: Option<&Memory>) -> Option<Memory> {
    let entry = name.arguments.first().filter(|entry| !is_allocator(entry) && inner.is_none())?;
    let is_closure = entry.contains("{closure_env#") && !entry.starts_with('(');
    (name.arguments.len() > 1 && !is_closure).then(|| of(entry))
}

fn map(name: &Name, inner: Option<&Memory>) -> Option<Memory> {
    match (&name.arguments[..], inner) {
        ([key, value, _, ..], None) if !is_allocator(value) => {
            Some(of(&format!("({key}, {value})")))
        }
        _ => None,
    }
}

/// The table of such entries: a pair's is a map's, a pair with nothing a set's.
fn of(entry: &str) -> Memory {
    let pair = entry.strip_prefix('(').and_then(|entry| entry.strip_suffix(')'));
    let parts = pair.map(generics::arguments).unwrap_or_default();
    Memory::Type(match parts[..] {
        [key, "()"] => format!("std::collections::hash::set::HashSet<{key}>"),
        [key, value] => format!("std::collections::hash::map::HashMap<{key}, {value}>"),
        _ => format!("hashbrown::table::HashTable<{entry}>"),
    })
}
