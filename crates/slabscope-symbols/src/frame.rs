//! One level of a call stack with its names.

use std::sync::Arc;

use crate::name::Name;

/// One function at one place; where functions are inlined, an address has several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The function.
    pub name: Arc<Name>,
    /// The source file; empty where it is not known.
    pub file: Arc<str>,
    /// The line in that file, 0 where it is not known.
    pub line: u32,
    /// Whether its code stands inside the function after it.
    pub is_inlined: bool,
    /// Whether other functions are at the same place, any of which may be the one that ran. Of an inlined
    /// one, the function that its code is in tells.
    pub shares_code: bool,
}
