//! Vectors and slices: elements one after the other.

use super::{Memory, Rule};
use crate::generics;
use crate::name::Name;

pub(super) const RULES: &[Rule] = &[
    Rule { module: "alloc::vec", functions: &["into_boxed_slice"], means: boxed_slice },
    Rule { module: "alloc::raw_vec", functions: &[], means: raw },
    Rule { module: "alloc::vec", functions: &[], means: vector },
    Rule {
        module: "alloc::slice",
        functions: &["to_vec", "to_vec_in", "into_vec", "to_owned", "repeat"],
        means: vector,
    },
    // A stable sort takes a buffer of elements.
    Rule { module: "core::slice::sort", functions: &[], means: sorted },
];

/// Functions that ask for what they were asked for.
const FORWARDING: [&str; 10] = [
    "push",
    "push_mut",
    "reserve",
    "reserve_exact",
    "insert",
    "insert_mut",
    "with_capacity",
    "with_capacity_in",
    "try_reserve",
    "shrink_to_fit",
];

/// Whether a vector's function asks for nothing but memory for its own elements.
pub(super) fn is_forwarding(name: &Name) -> bool {
    FORWARDING.contains(&&*name.base)
}

/// `RawVec<T, A>` has two arguments; `RawVecInner<A>` does not know what it holds.
fn raw(name: &Name, _: Option<&Memory>) -> Option<Memory> {
    let element = match &name.arguments[..] {
        [element, _, ..] => element,
        [element] if is_owner(name, "alloc::raw_vec::RawVec") => element,
        _ => return None,
    };
    Some(Memory::Elements(element.clone())).filter(|_| !is_allocator(element))
}

/// Whether a function asks for elements of a type that it does not know.
pub(super) fn is_of_any(name: &Name) -> bool {
    let [argument] = &name.arguments[..] else {
        return name.owner == "alloc::raw_vec::RawVecInner<A>";
    };
    name.module == "alloc::raw_vec" && is_allocator(argument)
}

fn vector(name: &Name, inner: Option<&Memory>) -> Option<Memory> {
    let element = name.arguments.first()?;
    // What is no vector any more was put into one, by `collect` for instance.
    let is_vector = inner.is_none_or(|memory| memory.elements().is_some());
    (is_vector && !is_allocator(element)).then(|| Memory::Elements(element.clone()))
}

fn boxed_slice(name: &Name, _: Option<&Memory>) -> Option<Memory> {
    let element = name.arguments.first()?;
    Some(Memory::Type(format!("alloc::boxed::Box<[{element}]>")))
}

fn sorted(name: &Name, inner: Option<&Memory>) -> Option<Memory> {
    inner.is_none().then(|| name.arguments.first()).flatten().cloned().map(Memory::Elements)
}

fn is_owner(name: &Name, wanted: &str) -> bool {
    generics::split(&name.owner).0 == wanted
}

/// Whether a type argument stands in the place of an allocator.
pub(super) fn is_allocator(argument: &str) -> bool {
    argument == "alloc::alloc::Global" || argument == "A" || argument == "&A"
}
