//! The records inside a batch of strings, stacks, samples or clock data.

use slabscope_wire::varint;

use crate::batch::Batch;
use crate::error::ErrorKind;

/// What is left of a batch.
#[derive(Debug)]
pub(super) struct Records<'a> {
    payload: &'a [u8],
    at: usize,
    /// Where the payload stands in the file.
    start: u64,
}

impl<'a> Records<'a> {
    pub(super) fn new(batch: &Batch<'a>) -> Self {
        Records { payload: batch.payload, at: 0, start: batch.offset }
    }

    /// Where in the file it stands.
    pub(super) fn offset(&self) -> u64 {
        self.start + self.at as u64
    }

    /// Passes over the byte that says what kind of batch it is.
    pub(super) fn skip_byte(&mut self) {
        self.at += 1;
    }

    /// The first byte of the next record; `None` at the end.
    pub(super) fn next_id(&mut self) -> Option<u8> {
        let id = *self.payload.get(self.at)?;
        self.at += 1;
        Some(id)
    }

    /// Whether there is another record, which must be of the kind `id`.
    pub(super) fn next_is(&mut self, id: u8) -> Result<bool, ErrorKind> {
        match self.next_id() {
            None => Ok(false),
            Some(found) if found == id => Ok(true),
            Some(stray) => Err(ErrorKind::StrayRecord(stray)),
        }
    }

    pub(super) fn number(&mut self) -> Result<u64, ErrorKind> {
        let rest = self.payload.get(self.at..).unwrap_or_default();
        let (number, len) = varint::decode(rest).map_err(ErrorKind::Number)?;
        self.at += len;
        Ok(number)
    }

    pub(super) fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let bytes = self.payload.get(self.at..)?.get(..len)?;
        self.at += len;
        Some(bytes)
    }
}
