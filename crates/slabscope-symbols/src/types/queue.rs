//! Queues, which keep their elements as vectors do.

use super::{Memory, Rule};
use crate::name::Name;

pub(super) const RULES: &[Rule] = &[
    Rule { module: "alloc::collections::vec_deque", functions: &[], means: deque },
    Rule { module: "alloc::collections::binary_heap", functions: &[], means: heap },
];

fn deque(_: &Name, inner: Option<&Memory>) -> Option<Memory> {
    let element = inner?.elements()?;
    Some(Memory::Type(format!("alloc::collections::vec_deque::VecDeque<{element}>")))
}

fn heap(_: &Name, inner: Option<&Memory>) -> Option<Memory> {
    let element = inner?.elements()?;
    Some(Memory::Type(format!("alloc::collections::binary_heap::BinaryHeap<{element}>")))
}
