//! Which Rust type owns the memory that a stack allocated.
//!
//! Generic functions of the standard library say it: `RawVec<T>::grow_one` is called for a vector of
//! `T` only. The frames of an allocation are looked at from the innermost on. Each family of types has
//! a table of rules: in which module, and what memory that its functions ask for is. Inner frames
//! tell what the memory holds, those around them may tell more of what holds it: a `Vec<u8>` that
//! `String` asked for is a `String`.

mod boxed;
mod btree;
mod elements;
mod hash;
mod inference;
mod other;
mod queue;
mod shared;
mod spelling;
mod task;
mod text;

use crate::frame::Frame;
use crate::name::Name;
pub use inference::Inference;
pub use spelling::short;

/// How sure a type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// It fits what is known.
    Guess,
    /// Functions say so whose code the compiler or linker may have merged with that for other types.
    Likely,
    /// A function says so that stands in code of its own: inlined into one that is there once, for
    /// whatever types, and that shares its place with no other.
    Exact,
}

/// The type that owns some memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwningType {
    /// The type, as Rust writes it, with the paths of well-known types left out.
    pub name: String,
    /// How sure it is.
    pub certainty: Certainty,
    /// The function that says so.
    pub because: String,
}

/// What functions of some modules mean for the memory that they ask for.
struct Rule {
    /// The module, and those in it.
    module: &'static str,
    /// The functions; empty for all.
    functions: &'static [&'static str],
    /// What the memory is, as the function's name and inner frames say; `None` when they do not.
    means: fn(&Name, Option<&Memory>) -> Option<Memory>,
}

/// What some memory is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Memory {
    /// Elements one after the other: a vector's, until more is known.
    Elements(String),
    /// One value on the heap, and nothing known of who holds it but a box.
    Boxed(String),
    /// Anything else, by the name of its type.
    Type(String),
}

impl Memory {
    fn into_name(self) -> String {
        match self {
            Memory::Elements(element) => format!("alloc::vec::Vec<{element}>"),
            Memory::Boxed(value) => format!("alloc::boxed::Box<{value}>"),
            Memory::Type(name) => name,
        }
    }

    /// Elements, if that is all that is known.
    fn elements(&self) -> Option<&str> {
        match self {
            Memory::Elements(element) => Some(element),
            _ => None,
        }
    }
}

/// All rules; the first that fits a function counts.
const FAMILIES: [&[Rule]; 9] = [
    text::RULES,
    queue::RULES,
    shared::RULES,
    boxed::RULES,
    hash::RULES,
    btree::RULES,
    task::RULES,
    elements::RULES,
    other::INDEX_MAPS,
];

/// The type that owns memory which this stack, innermost first, asked for with this alignment in
/// bytes, if that is known.
pub fn of_stack<'a>(
    frames: impl IntoIterator<Item = &'a Frame>,
    align: Option<u64>,
) -> Option<OwningType> {
    let mut inference = Inference::default();
    let _ = frames.into_iter().try_for_each(|frame| inference.frame(frame));
    inference.finish(align)
}

/// What the memory is, as a function says that asks for it by way of what `inner` is.
fn meaning(name: &Name, inner: Option<&Memory>) -> Option<Memory> {
    let rules = FAMILIES.into_iter().flatten().filter(|rule| rule.covers(name));
    rules.into_iter().find_map(|rule| (rule.means)(name, inner)).map(shared::unwrapped)
}

impl Rule {
    fn covers(&self, name: &Name) -> bool {
        is_within(&name.module, self.module)
            && (self.functions.is_empty() || self.functions.contains(&&*name.base))
    }
}

/// Modules whose functions may stand between an allocation and the one that knows its type.
const WITHOUT_OPINION: [&str; 8] = [
    "alloc",
    "hashbrown",
    "slabscope",
    "slabscope_heap",
    "slabscope_record",
    // The allocator finds its thread's state there.
    "std::thread::local",
    "__rustc",
    "std::alloc",
];

/// Modules that may stand between a type and one that is made of it.
const BETWEEN: [&str; 6] =
    ["alloc", "hashbrown", "core::iter", "core::clone", "core::convert", "std::collections"];

/// Whether a function that says nothing may be passed over on the way outwards.
fn is_passed(name: &Name, is_known: bool) -> bool {
    let is_in = |modules: &[&str]| modules.iter().any(|module| is_within(&name.module, module));
    if is_known {
        return is_in(&BETWEEN);
    }
    let is_symbol = name.base.contains("__rust_alloc") || name.base.contains("__rust_realloc");
    is_symbol || is_in(&WITHOUT_OPINION) || is_in(&PLUMBING)
}

/// Whether a module is this one or in it.
fn is_within(module: &str, outer: &str) -> bool {
    module.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Parts of the core library that collections call, or that call them.
const PLUMBING: [&str; 7] = [
    "core::alloc",
    "core::cmp",
    "core::iter",
    "core::ops",
    "core::option",
    "core::ptr",
    "core::result",
];

/// Whether elements of a plain type could have asked for this alignment.
fn fits(element: &str, align: Option<u64>) -> bool {
    let expected = match element {
        "u8" | "i8" | "bool" => 1,
        "u16" | "i16" => 2,
        "u32" | "i32" | "f32" | "char" => 4,
        "u64" | "i64" | "f64" | "usize" | "isize" | "alloc::string::String" => 8,
        _ => return true,
    };
    align.is_none_or(|align| align == expected)
}

#[cfg(test)]
mod tests;
