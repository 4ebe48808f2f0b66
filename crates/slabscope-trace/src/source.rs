//! The generations of a trace, one after the other, whatever the format has between them.

use slabscope_wire::header;

use crate::batch::{Batch, Batches};
use crate::catalog::Catalog;
use crate::error::{Error, ErrorKind};
use crate::generation::{Format, Generation, Spilled};

/// What of a trace was not read yet.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    format: Format,
    batches: Batches<'a>,
    /// The first batch of the next generation, in formats before 26.
    spill: Option<Batch<'a>>,
    has_begun: bool,
    /// What comes after the generation that was read last.
    failure: Option<Error>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(bytes: &'a [u8], catalog: &'static Catalog) -> Result<Source<'a>, Error> {
        let version = header::parse(bytes).map_err(|error| Error {
            offset: 0,
            generation: 0,
            what: ErrorKind::Header(error),
        })?;
        Ok(Source {
            format: Format { version, catalog },
            batches: Batches::new(bytes, header::LEN),
            spill: None,
            has_begun: false,
            failure: None,
        })
    }

    pub(crate) fn version(&self) -> u8 {
        self.format.version
    }

    /// The next generation; `None` at the end of the trace. After an error nothing may be asked.
    pub(crate) fn next(&mut self) -> Result<Option<Generation<'a>>, Error> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        if self.format.version >= 26 {
            return Generation::read(&mut self.batches, self.format);
        }
        if self.has_begun && self.spill.is_none() {
            return Ok(None);
        }
        self.has_begun = true;
        let first = self.spill.take();
        let Spilled { generation, next, error } =
            Generation::read_spilling(&mut self.batches, first, self.format)?;
        self.spill = next;
        self.failure = error;
        Ok(Some(generation))
    }
}
