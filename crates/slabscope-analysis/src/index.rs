//! The index beside a trace: what makes the next answers about it come at once.
//!
//! It has the sums of the whole trace, the sums of each of its parts, and the heap as it was where some
//! of these begin. So the whole is answered without reading an event, and a part by replaying what lies
//! between its two ends and the places next to them that the index has.
//!
//! Nothing in it is trusted: every piece has a checksum, lengths are held against the file's, and
//! numbers are checked where they are used. What does not fit is an [`IndexError`], and the trace is read
//! as if there were no index.

mod answer;
mod file;
#[cfg(test)]
mod hostile_test;
mod objects;
mod record;
mod resume;
mod standing;
mod tables;

use std::fmt;
use std::io;

pub use file::Index;
pub use record::{IndexOptions, profile_and_index};

use serde::{Deserialize, Serialize};

/// What the name of an index ends with, behind that of its trace.
pub const SUFFIX: &str = ".slabscope-index";

/// What tells one state of a file from another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its length, in bytes.
    pub len: u64,
    /// When it was last changed, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// A hash of its beginning and its end.
    pub hash: u64,
}

impl Identity {
    /// Of a file that is so long, was changed then, and whose beginning and end are these.
    pub fn new(len: u64, modified_ns: i64, ends: &[u8]) -> Identity {
        Identity { len, modified_ns, hash: twox_hash::XxHash3_64::oneshot(ends) }
    }
}

/// Why an index is of no use.
#[derive(Debug)]
#[non_exhaustive]
pub enum IndexError {
    /// It cannot be read.
    Read(io::Error),
    /// It is no index, or of another version.
    Foreign,
    /// It is about another file, or about this one as it was.
    Stale,
    /// It is damaged, or contradicts itself.
    Damaged,
    /// It does not have what was asked for.
    Missing,
}

impl From<io::Error> for IndexError {
    fn from(error: io::Error) -> Self {
        IndexError::Read(error)
    }
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IndexError::Read(error) => error.fmt(f),
            IndexError::Foreign => f.write_str("it is no index of this version"),
            IndexError::Stale => f.write_str("the trace has changed since"),
            IndexError::Damaged => f.write_str("it is damaged"),
            IndexError::Missing => f.write_str("it does not have that"),
        }
    }
}

impl std::error::Error for IndexError {}
