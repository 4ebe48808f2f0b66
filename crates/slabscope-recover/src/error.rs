//! Why a trace cannot be recovered.

use std::fmt;

/// Why a trace cannot be recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The file is no live file.
    NotLive,
    /// It has a layout of another version than ours.
    Version(u64),
    /// It ends before something that its header says is in it.
    TooShort {
        /// How many bytes there should be.
        needed: u64,
    },
    /// A word of its header, by number, cannot be right.
    Header(usize),
    /// A ring's head, by the ring's number, cannot be right.
    Ring(usize),
    /// A ring holds what nobody wrote.
    Word {
        /// Which ring.
        ring: usize,
        /// Which word, counted from the first ever pushed.
        index: u64,
    },
    /// The trace is shorter than what the recorder had written: it is another trace, or was cut.
    TraceTooShort {
        /// How many bytes there should be at least.
        needed: u64,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotLive => f.write_str("it is no live file of slabscope"),
            Error::Version(version) => {
                write!(f, "its layout has version {version}, which this slabscope does not know")
            }
            Error::TooShort { needed } => {
                write!(f, "it is too short: it should have {needed} bytes at least")
            }
            Error::Header(word) => write!(f, "offset {}: a broken header", word * 8),
            Error::Ring(ring) => write!(f, "the head of ring {ring} is broken"),
            Error::Word { ring, index } => {
                write!(f, "ring {ring}, word {index}: something nobody wrote")
            }
            Error::TraceTooShort { needed } => write!(
                f,
                "it belongs to a trace of at least {needed} bytes, and the trace beside it is \
                 shorter"
            ),
        }
    }
}

impl std::error::Error for Error {}
