//! Boxes: one value on the heap, or a slice that grows no more.

use super::elements::is_allocator;
use super::{Memory, Rule};
use crate::name::Name;

pub(super) const RULES: &[Rule] = &[Rule { module: "alloc::boxed", functions: &[], means: boxed }];

fn boxed(name: &Name, inner: Option<&Memory>) -> Option<Memory> {
    match inner {
        None => {
            let value = name.arguments.first().filter(|value| !is_allocator(value))?;
            Some(Memory::Boxed(value.clone()))
        }
        // `Box<str>` has a function of its own kind only, without a type argument.
        Some(Memory::Elements(byte)) if byte == "u8" && name.arguments.is_empty() => {
            Some(Memory::Type("alloc::boxed::Box<str>".to_owned()))
        }
        Some(Memory::Elements(element)) => {
            Some(Memory::Type(format!("alloc::boxed::Box<[{element}]>")))
        }
        // `pin` and `from` are called for the same value that `new` then makes.
        Some(Memory::Boxed(value)) if name.arguments.first() == Some(value) => inner.cloned(),
        Some(_) => None,
    }
}
