//! Everything that can be wrong with a trace.

use std::fmt;
use std::io;

use slabscope_wire::batch::PAYLOAD_MAX;
use slabscope_wire::event;
use slabscope_wire::header::HeaderError;
use slabscope_wire::varint::VarintError;

use super::state::StateError;
use crate::limits::{FRAMES_MAX, STRING_MAX};

/// What is wrong with a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The file does not begin as a trace that can be read.
    Header(HeaderError),
    /// The file could not be read on.
    Read(io::ErrorKind),
    /// A batch had to begin here, and this byte begins none.
    NotABatch(u8),
    /// The file ends inside a batch's header, or a number there is broken.
    BatchHeader(VarintError),
    /// A batch says its payload has so many bytes.
    BatchTooLarge(u64),
    /// The file ends inside a batch.
    BatchCutOff {
        /// How many bytes of payload there are.
        present: u64,
        /// How many there should be.
        wanted: u64,
    },
    /// A batch belongs to generation 0.
    GenerationZero,
    /// A batch belongs to this generation, which is neither the current one nor may it follow.
    GenerationOutOfOrder(u64),
    /// The file ends before the generation does.
    GenerationCutOff,
    /// A generation's end stands where this format version has none.
    UnexpectedEnd,
    /// A generation does not say how long a clock tick is.
    NoFrequency,
    /// A generation has no clock snapshot.
    NoClockSnapshot,
    /// A generation says more than once how long a clock tick is.
    RepeatedFrequency,
    /// A generation has more than one clock snapshot.
    RepeatedClockSnapshot,
    /// A batch of strings, stacks, samples or clock data holds this other record.
    StrayRecord(u8),
    /// A number in a batch of strings, stacks, samples or clock data is broken.
    Number(VarintError),
    /// A string says it has so many bytes.
    StringTooLong(u64),
    /// A string is cut off by the end of its batch.
    StringCutOff,
    /// Two strings of a generation have this number, or one has 0.
    RepeatedString(u64),
    /// A stack says it has so many frames.
    StackTooDeep(u64),
    /// Two stacks of a generation have this number, or one has 0.
    RepeatedStack(u64),
    /// A stack's frame names this string, which the generation lacks.
    MissingFrameString(u64),
    /// There is no event of this number.
    UnknownEvent(u8),
    /// This record cannot stand among a thread's events.
    UntimedEvent(u8),
    /// This event's numbers are cut off by the end of its batch, or broken.
    BrokenEvent(u8),
    /// This event names a stack the generation lacks.
    MissingStack {
        /// The event, by number.
        event: u8,
        /// The stack.
        stack: u64,
    },
    /// This event names a string the generation lacks.
    MissingString {
        /// The event, by number.
        event: u8,
        /// The string.
        string: u64,
    },
    /// An event contradicts those before it.
    State {
        /// The event, by number.
        event: u8,
        /// How.
        error: StateError,
    },
    /// No thread's next event can come next; this is the earliest of them.
    Stuck(u8),
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            ErrorKind::Header(error) => header(error, f),
            ErrorKind::Read(error) => write!(f, "it cannot be read on: {error}"),
            ErrorKind::NotABatch(byte) => write!(f, "byte {byte} begins no batch"),
            ErrorKind::BatchHeader(error) => write!(f, "in a batch header, {error}"),
            ErrorKind::BatchTooLarge(size) => {
                write!(f, "a batch of {size} bytes; {PAYLOAD_MAX} are the most")
            }
            ErrorKind::BatchCutOff { present, wanted } => {
                write!(f, "the file ends {present} bytes into a batch of {wanted}")
            }
            ErrorKind::GenerationZero => f.write_str("a batch of generation 0"),
            ErrorKind::GenerationOutOfOrder(found) => {
                write!(f, "a batch of generation {found} stands inside another")
            }
            ErrorKind::GenerationCutOff => f.write_str("the file ends inside a generation"),
            ErrorKind::UnexpectedEnd => f.write_str("an end of generation in an older format"),
            ErrorKind::NoFrequency => f.write_str("a generation without a clock frequency"),
            ErrorKind::NoClockSnapshot => f.write_str("a generation without a clock snapshot"),
            ErrorKind::RepeatedFrequency => f.write_str("a second clock frequency"),
            ErrorKind::RepeatedClockSnapshot => f.write_str("a second clock snapshot"),
            ErrorKind::StrayRecord(id) => write!(f, "record {} in a batch of others", Name(id)),
            ErrorKind::Number(error) => error.fmt(f),
            ErrorKind::StringTooLong(len) => {
                write!(f, "a string of {len} bytes; {STRING_MAX} are the most")
            }
            ErrorKind::StringCutOff => f.write_str("a string is cut off"),
            ErrorKind::RepeatedString(id) => write!(f, "a second string {id}"),
            ErrorKind::StackTooDeep(len) => {
                write!(f, "a stack of {len} frames; {FRAMES_MAX} are the most")
            }
            ErrorKind::RepeatedStack(id) => write!(f, "a second stack {id}"),
            ErrorKind::MissingFrameString(id) => {
                write!(f, "a stack frame names string {id}, which is missing")
            }
            ErrorKind::UnknownEvent(id) => write!(f, "no event has number {id}"),
            ErrorKind::UntimedEvent(id) => write!(f, "{} among a thread's events", Name(id)),
            ErrorKind::BrokenEvent(id) => write!(f, "{} is cut off or broken", Name(id)),
            ErrorKind::MissingStack { event, stack } => {
                write!(f, "{} names stack {stack}, which is missing", Name(event))
            }
            ErrorKind::MissingString { event, string } => {
                write!(f, "{} names string {string}, which is missing", Name(event))
            }
            ErrorKind::State { event, error } => write!(f, "{}: {error}", Name(event)),
            ErrorKind::Stuck(event) => {
                write!(f, "no thread can go on; the earliest waits at {}", Name(event))
            }
        }
    }
}

fn header(error: HeaderError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match error {
        HeaderError::Truncated => f.write_str("too short to be a Go execution trace"),
        HeaderError::NotATrace => f.write_str("not a Go execution trace"),
        HeaderError::TooOld(version) => write!(
            f,
            "a trace in the format of Go 1.{version}; only the formats since Go 1.22 can be read"
        ),
        HeaderError::Unknown(version) => write!(f, "a trace in the unknown format 1.{version}"),
    }
}

/// An event by name, where it has one.
struct Name(u8);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match event::spec(self.0) {
            Some(spec) => f.write_str(spec.name),
            None => write!(f, "event {}", self.0),
        }
    }
}
