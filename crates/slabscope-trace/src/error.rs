//! Why a trace could not be read, and where.

mod kind;
mod state;

use std::fmt;

pub use kind::ErrorKind;
pub use state::StateError;

/// Why reading a trace ended, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// The generation, or 0 when none was reached.
    pub generation: u64,
    /// What is wrong there.
    pub what: ErrorKind,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "offset {}", self.offset)?;
        if self.generation != 0 {
            write!(f, ", generation {}", self.generation)?;
        }
        write!(f, ": {}", self.what)
    }
}

impl std::error::Error for Error {}
