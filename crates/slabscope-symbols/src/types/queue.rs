//! Queues, which keep their elements as vectors do.

use super::elements::is_allocator;
use super::{Memory, Rule};
use crate::name::Name;

pub(super) const RULES: &[Rule] = &[
    Rule { module: "alloc::collections::vec_deque", functions: &[], means: deque },
    Rule { module: "alloc::collections::binary_heap", functions: &[], means: heap },
];

fn deque(name: &Name, inner: Option<&Memory>) -> Option<Memory> {
    holder("alloc::collections::vec_deque::VecDeque", name, inner)
}

fn heap(name: &Name, inner: Option<&Memory>) -> Option<Memory> {
    holder("alloc::collections::binary_heap::BinaryHeap", name, inner)
}

/// The queue of its own elements, which knows them better than the function that it called for room.
fn holder(queue: &str, name: &Name, inner: Option<&Memory>) -> Option<Memory> {
    let asked = inner?.elements()?;
    let own = name.arguments.first().filter(|own| !is_allocator(own));
    match own.map(String::as_str) {
        // One of its elements asked for memory of its own.
        Some(own) if own != asked && own.contains(asked) => None,
        own => Some(Memory::Type(format!("{queue}<{}>", own.unwrap_or(asked)))),
    }
}
