//! Reference counts, and other values that the heap has in a wrapping of the library's.

use super::elements::is_allocator;
use super::{Memory, Rule};
use crate::generics;
use crate::name::Name;

pub(super) const RULES: &[Rule] = &[
    Rule {
        module: "alloc::sync",
        functions: &[],
        means: |name, inner| shared("alloc::sync::Arc", name, inner),
    },
    Rule {
        module: "alloc::rc",
        functions: &[],
        means: |name, inner| shared("alloc::rc::Rc", name, inner),
    },
];

/// Functions for slices: their argument is an element.
const OF_SLICES: [&str; 5] =
    ["allocate_for_slice", "copy_from_slice", "from_iter_exact", "to_rc_slice", "to_arc_slice"];

/// Functions for one value.
const OF_VALUES: [&str; 7] =
    ["new", "new_in", "pin", "new_cyclic", "new_cyclic_in", "new_uninit", "from_box_in"];

fn shared(pointer: &str, name: &Name, inner: Option<&Memory>) -> Option<Memory> {
    let argument = name.arguments.first().filter(|argument| !is_allocator(argument));
    let base = &*name.base;
    match (inner, argument) {
        (None, Some(element)) if OF_SLICES.contains(&base) => {
            Some(Memory::Type(format!("{pointer}<[{element}]>")))
        }
        (None, Some(value)) if OF_VALUES.contains(&base) => {
            Some(Memory::Type(format!("{pointer}<{value}>")))
        }
        // From a text, by way of its bytes.
        (Some(Memory::Type(bytes)), None)
            if base == "from" && *bytes == format!("{pointer}<[u8]>") =>
        {
            Some(Memory::Type(format!("{pointer}<str>")))
        }
        (Some(Memory::Type(_)), Some(value)) if OF_VALUES.contains(&base) => {
            let same = Memory::Type(format!("{pointer}<{value}>"));
            Some(same).filter(|same| Some(same) == inner)
        }
        _ => None,
    }
}

/// The type that people write, for these arguments of the wrapping.
type Owner = fn(&[&str]) -> Memory;

/// What the library puts around values, and the type that people write.
const WRAPPINGS: [(&str, Owner); 9] = [
    ("alloc::sync::ArcInner", |of| of_first("alloc::sync::Arc", of)),
    ("alloc::rc::RcInner", |of| of_first("alloc::rc::Rc", of)),
    ("alloc::rc::RcBox", |of| of_first("alloc::rc::Rc", of)),
    ("triomphe::arc::ArcInner", |of| of_first("triomphe::arc::Arc", of)),
    ("alloc::collections::linked_list::Node", |of| {
        of_first("alloc::collections::linked_list::LinkedList", of)
    }),
    ("alloc::collections::btree::node::LeafNode", super::btree::of),
    ("alloc::collections::btree::node::InternalNode", super::btree::of),
    ("tokio::runtime::task::core::Cell", super::task::of),
    ("std::sync::mpmc::list::Block", |of| of_first("std::sync::mpsc::Receiver", of)),
];

fn of_first(owner: &str, arguments: &[&str]) -> Memory {
    Memory::Type(format!("{owner}<{}>", arguments.first().unwrap_or(&"?")))
}

/// The type of a boxed value that is a part of another type.
pub(super) fn unwrapped(memory: Memory) -> Memory {
    let Memory::Boxed(value) = &memory else { return memory };
    let (base, arguments) = generics::split(value);
    match WRAPPINGS.iter().find(|(wrapping, _)| *wrapping == base) {
        Some((_, owner)) => owner(&arguments),
        None => memory,
    }
}
