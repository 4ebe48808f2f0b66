//! Numbers and texts out of a batch of side data, which may hold anything.

use slabscope_wire::varint;

use crate::id::Time;

/// What is left of a batch of side data.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Fields { bytes, at: 0 }
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Whether nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.rest().is_empty()
    }

    /// The next number.
    pub(super) fn number(&mut self) -> Option<u64> {
        let (number, len) = varint::decode(self.rest()).ok()?;
        self.at += len;
        Some(number)
    }

    /// The next number, a time in nanoseconds.
    pub(super) fn time(&mut self) -> Option<Time> {
        self.number().map(|ns| Time(ns as i64))
    }

    /// The next bytes, behind their length.
    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let (len, header) = varint::decode(self.rest()).ok()?;
        let start = self.at + header;
        let end = start.checked_add(usize::try_from(len).ok()?)?;
        let bytes = self.bytes.get(start..end)?;
        self.at = end;
        Some(bytes)
    }

    /// The next text: a length and as many bytes.
    pub(super) fn text(&mut self) -> Option<String> {
        self.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// Reads entries to the end; the error is the offset where one could not be read.
    pub(super) fn each(
        &mut self,
        mut entry: impl FnMut(&mut Self) -> Option<()>,
    ) -> Result<(), usize> {
        while !self.is_empty() {
            entry(self).ok_or(self.at)?;
        }
        Ok(())
    }

    /// Reads one entry that is all there should be.
    pub(super) fn once(
        &mut self,
        entry: impl FnOnce(&mut Self) -> Option<()>,
    ) -> Result<(), usize> {
        entry(self).filter(|()| self.is_empty()).ok_or(self.at)
    }
}
