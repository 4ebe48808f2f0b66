//! A trace as a row of batches, read one by one and not looked into.

use std::io::{BufReader, Read};

use slabscope_wire::alloc_free::EXPERIMENT;
use slabscope_wire::batch::PAYLOAD_MAX;
use slabscope_wire::event::id;
use slabscope_wire::{header, varint};

use super::SymbolizeError;

/// The most bytes that a varint has.
const VARINT_MAX: usize = 10;

/// A trace that is read.
pub(super) struct Source<R> {
    read: BufReader<R>,
    header: Vec<u8>,
    /// How many bytes were read.
    offset: u64,
}

/// What follows one another.
pub(super) enum Item {
    Batch(Batch),
    EndOfGeneration,
}

/// A batch as it stands in the file.
pub(super) struct Batch {
    /// All before the payload.
    pub(super) head: Vec<u8>,
    pub(super) payload: Vec<u8>,
    pub(super) is_side_data: bool,
    pub(super) generation: u64,
    pub(super) time: u64,
}

impl<R: Read> Source<R> {
    pub(super) fn new(read: R) -> Source<R> {
        Source { read: BufReader::with_capacity(1 << 16, read), header: Vec::new(), offset: 0 }
    }

    /// The header, which comes first.
    pub(super) fn header(&mut self) -> Result<&[u8], SymbolizeError> {
        self.header = self.bytes(header::LEN, 0)?;
        Ok(&self.header)
    }

    /// How many bytes were read.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// The next item; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Item>, SymbolizeError> {
        let start = self.offset;
        let mut head = self.some(1)?;
        match head.first() {
            None => return Ok(None),
            Some(&id::END_OF_GENERATION) => return Ok(Some(Item::EndOfGeneration)),
            Some(&id::EVENT_BATCH) => {}
            Some(&id::EXPERIMENTAL_BATCH) => {
                head.extend(self.bytes(1, start)?);
                if head.last() != Some(&EXPERIMENT) {
                    return Err(SymbolizeError::Broken { offset: start });
                }
            }
            Some(_) => return Err(SymbolizeError::Broken { offset: start }),
        }
        let is_side_data = head.len() == 2;
        let [generation, _thread, time, len] = [
            self.number(&mut head),
            self.number(&mut head),
            self.number(&mut head),
            self.number(&mut head),
        ];
        let (generation, time, len) = (generation?, time?, len?);
        let len = usize::try_from(len).ok().filter(|&len| len <= PAYLOAD_MAX);
        let len = len.ok_or(SymbolizeError::Broken { offset: start })?;
        let payload = self.bytes(len, start)?;
        Ok(Some(Item::Batch(Batch { head, payload, is_side_data, generation, time })))
    }

    /// The next number, whose bytes are added to `head`.
    fn number(&mut self, head: &mut Vec<u8>) -> Result<u64, SymbolizeError> {
        let start = head.len();
        while head.len() - start < VARINT_MAX {
            head.extend(self.bytes(1, self.offset)?);
            if head.last().is_some_and(|&byte| byte < 0x80) {
                break;
            }
        }
        let number = varint::decode(head.get(start..).unwrap_or_default());
        number.map(|(number, _)| number).map_err(|_| SymbolizeError::Broken { offset: self.offset })
    }

    /// So many bytes; the trace is broken at `start` if there are fewer.
    fn bytes(&mut self, len: usize, start: u64) -> Result<Vec<u8>, SymbolizeError> {
        let bytes = self.some(len)?;
        if bytes.len() == len { Ok(bytes) } else { Err(SymbolizeError::Broken { offset: start }) }
    }

    /// So many bytes, or as many as there are.
    fn some(&mut self, len: usize) -> Result<Vec<u8>, SymbolizeError> {
        let mut bytes = Vec::with_capacity(len);
        let read = self.read.by_ref().take(len as u64).read_to_end(&mut bytes);
        self.offset += read.map_err(SymbolizeError::Input)? as u64;
        Ok(bytes)
    }
}
