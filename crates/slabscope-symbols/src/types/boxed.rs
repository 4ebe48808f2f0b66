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
        // A text's slice of bytes.
        Some(Memory::Type(slice)) if slice == "alloc::boxed::Box<[u8]>" && is_text(name) => {
            Some(Memory::Type("alloc::boxed::Box<str>".to_owned()))
        }
        Some(Memory::Elements(element)) => {
            Some(Memory::Type(format!("alloc::boxed::Box<[{element}]>")))
        }
        Some(Memory::Boxed(slice)) if slice == "[u8]" && is_text(name) => {
            Some(Memory::Type("alloc::boxed::Box<str>".to_owned()))
        }
        // `pin` and `from` are called for the same value that `new` then makes.
        Some(Memory::Boxed(value)) if name.arguments.first() == Some(value) => inner.cloned(),
        Some(_) => None,
    }
}

/// `Box<str>` copies itself by way of its bytes.
fn is_text(name: &Name) -> bool {
    let is_copied = matches!(&*name.base, "clone" | "from" | "from_iter");
    name.owner == "alloc::boxed::Box<str>" || (is_copied && name.arguments.is_empty())
}
