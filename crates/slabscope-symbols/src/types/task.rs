//! Tasks of asynchronous programs: the memory in which a future runs.

use super::{Memory, Rule};
use crate::name::Name;

pub(super) const RULES: &[Rule] = &[
    Rule { module: "tokio::runtime::task", functions: &["new", "new_task"], means: cell },
    Rule { module: "tokio::sync::mpsc::block", functions: &["new", "grow"], means: block },
];

/// Where the cell's memory is asked for without a box.
fn cell(name: &Name, inner: Option<&Memory>) -> Option<Memory> {
    match (&name.arguments[..], inner) {
        ([future, _, ..], None) => Some(of(&[future])),
        _ => None,
    }
}

/// Room for messages on their way.
fn block(name: &Name, inner: Option<&Memory>) -> Option<Memory> {
    match (&name.arguments[..], inner) {
        ([message, ..], None) => {
            Some(Memory::Type(format!("tokio::sync::mpsc channel of {message}")))
        }
        (_, Some(_)) => inner.cloned(),
        _ => None,
    }
}

/// A task that runs this future.
pub(super) fn of(arguments: &[&str]) -> Memory {
    Memory::Type(format!("tokio task of {}", arguments.first().unwrap_or(&"?")))
}
