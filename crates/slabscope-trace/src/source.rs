//! The generations of a trace, one after the other, whatever the format has between them.

use slabscope_wire::header;

use crate::batch::{Batch, Batches};
use crate::error::{Error, ErrorKind};
use crate::generation::{Generation, Spilled};

/// What of a trace was not read yet.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    version: u8,
    batches: Batches<'a>,
    /// The first batch of the next generation, in formats before 26.
    spill: Option<Batch<'a>>,
    has_begun: bool,
    /// What comes after the generation that was read last.
    failure: Option<Error>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Source<'a>, Error> {
        let version = header::parse(bytes).map_err(|error| Error {
            offset: 0,
            generation: 0,
            what: ErrorKind::Header(error),
        })?;
        Ok(Source {
            version,
            batches: Batches::new(bytes, header::LEN),
            spill: None,
            has_begun: false,
            failure: None,
        })
    }

    pub(crate) fn version(&self) -> u8 {
        self.version
    }

    /// The next generation; `None` at the end of the trace. After an error nothing may be asked.
    pub(crate) fn next(&mut self) -> Result<Option<Generation<'a>>, Error> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        if self.version >= 26 {
            return Generation::read(&mut self.batches, self.version);
        }
        if self.has_begun && self.spill.is_none() {
            return Ok(None);
        }
        self.has_begun = true;
        let first = self.spill.take();
        let Spilled { generation, next, error } =
            Generation::read_spilling(&mut self.batches, first, self.version)?;
        self.spill = next;
        self.failure = error;
        Ok(Some(generation))
    }
}
