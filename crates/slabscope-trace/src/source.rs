//! The generations of a trace, one after the other, whatever the format has between them.

use std::io;

use slabscope_wire::header;

use crate::batch::Batches;
use crate::catalog::Catalog;
use crate::error::{Error, ErrorKind};
use crate::generation::{Format, Generation, Unended};
use crate::input::Input;

/// What of a trace was not read yet.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    format: Format,
    batches: Batches<'a>,
    /// In formats before 26: whether another generation was seen to begin.
    has_more: bool,
    /// What comes after the generation that was read last.
    failure: Option<Error>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(
        mut input: Input<'a>,
        catalog: &'static Catalog,
    ) -> Result<Source<'a>, Error> {
        let error = |what| Error { offset: 0, generation: 0, what };
        let read = |failed: io::Error| error(ErrorKind::Read(failed.kind()));
        while input.bytes().len() < header::LEN && input.grow().map_err(read)? {}
        let header = header::parse(input.bytes());
        let version = header.map_err(|failed| error(ErrorKind::Header(failed)))?;
        Ok(Source::after_header(version, Batches::new(input, header::LEN), catalog))
    }

    /// A trace of which the header and some generations were read before.
    pub(crate) fn resumed(version: u8, input: Input<'a>, catalog: &'static Catalog) -> Source<'a> {
        Source::after_header(version, Batches::new(input, 0), catalog)
    }

    fn after_header(version: u8, batches: Batches<'a>, catalog: &'static Catalog) -> Source<'a> {
        Source { format: Format { version, catalog }, batches, has_more: true, failure: None }
    }

    /// Where in the file the next generation stands.
    pub(crate) fn offset(&self) -> u64 {
        self.batches.offset()
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
        if !self.has_more {
            return Ok(None);
        }
        let Unended { generation, has_more, error } =
            Generation::read_unended(&mut self.batches, self.format)?;
        (self.has_more, self.failure) = (has_more, error);
        Ok(Some(generation))
    }
}
