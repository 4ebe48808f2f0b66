//! Types that ask for memory by themselves, outside of the standard library.

use super::{Memory, Rule};
use crate::generics;
use crate::name::Name;

/// Maps that keep their order have a hash table of numbers beside their entries.
pub(super) const INDEX_MAPS: &[Rule] =
    &[Rule { module: "indexmap::map::core", functions: &[], means: index_map }];

fn index_map(name: &Name, inner: Option<&Memory>) -> Option<Memory> {
    let is_part = |memory: &Memory| match memory {
        Memory::Type(name) => name == "hashbrown::table::HashTable<usize>",
        Memory::Elements(element) => element.starts_with("indexmap::Bucket<"),
        Memory::Boxed(_) => false,
    };
    match &name.arguments[..] {
        [key, value, ..] if inner.is_some_and(is_part) => {
            Some(Memory::Type(format!("indexmap::map::IndexMap<{key}, {value}>")))
        }
        _ => None,
    }
}

/// The type whose method asked the allocator, which most likely keeps the memory for itself.
pub(super) fn owner(name: &Name) -> Option<Memory> {
    if !name.owner.is_empty() {
        return Some(Memory::Type(name.owner.clone()));
    }
    // An older name has its type with letters for arguments: `smallvec::SmallVec<A>::grow`.
    let path = name.full.strip_suffix(&*name.base)?.strip_suffix("::")?;
    let path = path.strip_prefix('<').unwrap_or(path);
    let path = path.split(" as ").next().unwrap_or(path).trim_end_matches('>');
    let path = path.split('<').next().unwrap_or(path);
    let (_, last) = generics::last_segment(path);
    last.starts_with(|c: char| c.is_uppercase()).then(|| {
        let arguments = name.arguments.join(", ");
        let list = if arguments.is_empty() { String::new() } else { format!("<{arguments}>") };
        Memory::Type(format!("{path}{list}"))
    })
}
