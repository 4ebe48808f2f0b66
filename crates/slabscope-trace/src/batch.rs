//! Batches: the frames a trace is made of, cut out of the file without copying.

use slabscope_wire::batch::PAYLOAD_MAX;
use slabscope_wire::event::id;
use slabscope_wire::varint::{self, VarintError};

use crate::error::ErrorKind;
use crate::id::ThreadId;
use crate::input::{Block, Input};

/// A batch, not looked into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch<'b> {
    /// Whose payload it is: 0 for none, so a normal batch.
    pub(crate) experiment: u8,
    pub(crate) generation: u64,
    pub(crate) thread: ThreadId,
    /// In clock ticks.
    pub(crate) time: u64,
    pub(crate) payload: &'b [u8],
    /// Where the payload stands among the bytes that [`Batches::cut`] gives.
    pub(crate) at: usize,
    /// Where the payload stands in the file.
    pub(crate) offset: u64,
}

/// What stands next in a trace.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Next<'b> {
    Batch(Batch<'b>),
    EndOfGeneration,
    EndOfFile,
}

/// The batches of a trace, one after the other.
#[derive(Debug)]
pub(crate) struct Batches<'a> {
    input: Input<'a>,
    at: usize,
    /// Where the batch that was read last begins.
    last: usize,
}

impl<'a> Batches<'a> {
    /// Those that begin `at` bytes into the input.
    pub(crate) fn new(input: Input<'a>, at: usize) -> Self {
        Batches { input, at, last: at }
    }

    /// Where the next batch stands in the file; after an error, the place of the error.
    pub(crate) fn offset(&self) -> u64 {
        self.input.start() + self.at as u64
    }

    /// Where in the file the bytes begin that [`Batches::cut`] gives.
    pub(crate) fn start(&self) -> u64 {
        self.input.start()
    }

    /// The next batch. Its payload may be as long as a batch may be and must be there whole.
    pub(crate) fn next(&mut self) -> Result<Next<'_>, ErrorKind> {
        self.last = self.at;
        while self.ends_early() && self.input.grow().map_err(|e| ErrorKind::Read(e.kind()))? {}
        let mut scan = Scan { bytes: self.input.bytes(), at: self.at };
        let next = scan.next(self.input.start());
        self.at = scan.at;
        next
    }

    /// Stands before the batch that was read last.
    pub(crate) fn go_back(&mut self) {
        self.at = self.last;
    }

    /// Gives away all bytes before the next batch.
    pub(crate) fn cut(&mut self) -> Block<'a> {
        let (block, at) = self.input.cut(self.at);
        (self.at, self.last) = (at, at);
        block
    }

    /// Whether the bytes that are there end before the next batch does.
    fn ends_early(&self) -> bool {
        if matches!(self.input, Input::Whole(_)) {
            return false;
        }
        let mut scan = Scan { bytes: self.input.bytes(), at: self.at };
        matches!(
            scan.next(0),
            Ok(Next::EndOfFile)
                | Err(
                    ErrorKind::BatchCutOff { .. } | ErrorKind::BatchHeader(VarintError::Truncated)
                )
        )
    }
}

/// A place in bytes.
struct Scan<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Scan<'b> {
    /// The batch here; `start` is where the bytes begin in the file.
    fn next(&mut self, start: u64) -> Result<Next<'b>, ErrorKind> {
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
        let at = self.at - payload.len();
        let offset = start + at as u64;
        Ok(Next::Batch(Batch { experiment, generation, thread, time, payload, at, offset }))
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn number(&mut self) -> Result<u64, ErrorKind> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let (number, len) = varint::decode(rest).map_err(ErrorKind::BatchHeader)?;
        self.at += len;
        Ok(number)
    }

    fn payload(&mut self) -> Result<&'b [u8], ErrorKind> {
        let wanted = self.number()?;
        if wanted > PAYLOAD_MAX as u64 {
            return Err(ErrorKind::BatchTooLarge(wanted));
        }
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some(payload) = rest.get(..wanted as usize) else {
            return Err(ErrorKind::BatchCutOff { present: rest.len() as u64, wanted });
        };
        self.at += payload.len();
        Ok(payload)
    }
}
