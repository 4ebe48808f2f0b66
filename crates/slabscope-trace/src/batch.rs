//! Batches: the frames a trace is made of, cut out of the file without copying.

use slabscope_wire::batch::PAYLOAD_MAX;
use slabscope_wire::event::id;
use slabscope_wire::varint;

use crate::error::ErrorKind;
use crate::id::ThreadId;

/// A batch, not looked into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch<'a> {
    /// Whose payload it is: 0 for none, so a normal batch.
    pub(crate) experiment: u8,
    pub(crate) generation: u64,
    pub(crate) thread: ThreadId,
    /// In clock ticks.
    pub(crate) time: u64,
    pub(crate) payload: &'a [u8],
    /// Where the payload stands in the file.
    pub(crate) offset: usize,
}

/// What stands next in a trace.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Next<'a> {
    Batch(Batch<'a>),
    EndOfGeneration,
    EndOfFile,
}

/// The batches of a trace, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Batches<'a> {
    file: &'a [u8],
    at: usize,
}

impl<'a> Batches<'a> {
    pub(crate) fn new(file: &'a [u8], at: usize) -> Self {
        Batches { file, at }
    }

    /// Where the next batch stands in the file; after an error, the place of the error.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// The next batch. Its payload may be as long as a batch may be and must be there whole.
    pub(crate) fn next(&mut self) -> Result<Next<'a>, ErrorKind> {
        let Some(first) = self.byte() else {
            return Ok(Next::EndOfFile);
        };
        let experiment = match first {
            id::END_OF_GENERATION => return Ok(Next::EndOfGeneration),
            id::EVENT_BATCH => 0,
            id::EXPERIMENTAL_BATCH => match self.byte() {
                Some(experiment) => experiment,
                // Go takes a file that ends right here for one that ends before the batch.
                None => return Ok(Next::EndOfFile),
            },
            byte => {
                self.at -= 1;
                return Err(ErrorKind::NotABatch(byte));
            }
        };
        let generation = self.number()?;
        let thread = ThreadId(self.number()? as i64);
        let time = self.number()?;
        let payload = self.payload()?;
        let offset = self.at - payload.len();
        Ok(Next::Batch(Batch { experiment, generation, thread, time, payload, offset }))
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.file.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn number(&mut self) -> Result<u64, ErrorKind> {
        let rest = self.file.get(self.at..).unwrap_or_default();
        let (number, len) = varint::decode(rest).map_err(ErrorKind::BatchHeader)?;
        self.at += len;
        Ok(number)
    }

    fn payload(&mut self) -> Result<&'a [u8], ErrorKind> {
        let wanted = self.number()?;
        if wanted > PAYLOAD_MAX as u64 {
            return Err(ErrorKind::BatchTooLarge(wanted));
        }
        let rest = self.file.get(self.at..).unwrap_or_default();
        let Some(payload) = rest.get(..wanted as usize) else {
            return Err(ErrorKind::BatchCutOff { present: rest.len() as u64, wanted });
        };
        self.at += payload.len();
        Ok(payload)
    }
}
