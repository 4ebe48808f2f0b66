//! A generation: the stretch of a trace that is read, ordered and forgotten as one.
//!
//! All of its tables are read before its first event is handed out, so they may stand anywhere in
//! it. Events stay where they are in the file until they are due.

mod builder;
mod records;

use std::sync::Arc;

use crate::batch::{Batches, Next};
use crate::catalog::Catalog;
use crate::clock::Snapshot;
use crate::cursor::Decoding;
use crate::error::{Error, ErrorKind};
use crate::experiment::ExperimentalData;
use crate::id::{GoId, ProcId, ThreadId, Time};
use crate::input::Block;
use crate::tables::Tables;

use builder::Builder;

/// What a trace is written in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    pub(crate) version: u8,
    pub(crate) catalog: &'static Catalog,
}

/// A generation, ready to be ordered.
#[derive(Debug)]
pub(crate) struct Generation<'a> {
    pub(crate) number: u64,
    /// Threads by their first batch in the file, each with its batches in the file's order.
    pub(crate) threads: Vec<ThreadBatches<'a>>,
    /// By time.
    pub(crate) samples: Vec<Sample>,
    /// The earliest time of any of its batches.
    pub(crate) start: Time,
    pub(crate) decoding: Decoding,
    pub(crate) snapshot: Option<Snapshot>,
    pub(crate) tables: Arc<Tables>,
    pub(crate) experimental: Arc<ExperimentalData>,
    /// Where in the file it ends.
    pub(crate) end: u64,
}

/// The event batches of one thread.
#[derive(Debug)]
pub(crate) struct ThreadBatches<'a> {
    pub(crate) thread: ThreadId,
    pub(crate) block: Block<'a>,
    /// Where in the file the block begins.
    pub(crate) start: u64,
    pub(crate) pieces: Vec<Piece>,
}

/// A batch of events, by its place in a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// In clock ticks.
    pub(crate) time: u64,
    /// Where the payload begins, in bytes.
    pub(crate) at: usize,
    /// How long it is, in bytes.
    pub(crate) len: usize,
}

impl ThreadBatches<'_> {
    /// The payload of a batch.
    #[inline]
    pub(crate) fn payload(&self, piece: &Piece) -> &[u8] {
        self.block.bytes().get(piece.at..piece.at + piece.len).unwrap_or_default()
    }

    /// Where in the file a batch's payload stands.
    pub(crate) fn offset(&self, piece: &Piece) -> u64 {
        self.start + piece.at as u64
    }
}

/// A sample of what a CPU was executing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) time: Time,
    pub(crate) thread: ThreadId,
    pub(crate) proc: ProcId,
    pub(crate) goroutine: GoId,
    pub(crate) stack: u64,
}

/// A generation of an older format, and what was met at its end.
#[derive(Debug)]
pub(crate) struct Unended<'a> {
    pub(crate) generation: Generation<'a>,
    /// Whether the first batch of another generation was met, which shows that this one has ended.
    pub(crate) has_more: bool,
    /// Why no more batches could be read; this generation is still good.
    pub(crate) error: Option<Error>,
}

impl<'a> Generation<'a> {
    /// Reads a generation that ends with byte 52, as all do since format 26.
    ///
    /// `None` at the end of the file.
    pub(crate) fn read(
        batches: &mut Batches<'a>,
        format: Format,
    ) -> Result<Option<Generation<'a>>, Error> {
        let mut builder = Builder::new(format);
        loop {
            let batch = match batches.next() {
                Ok(Next::Batch(batch)) => batch,
                Ok(Next::EndOfGeneration) => break,
                // Go forgives a cut that lost no event.
                Ok(Next::EndOfFile) if builder.has_events() => {
                    return Err(builder.error(batches.offset(), ErrorKind::GenerationCutOff));
                }
                Ok(Next::EndOfFile) => return Ok(None),
                Err(what) => return Err(builder.error(batches.offset(), what)),
            };
            if Builder::ends_generation(&batch) {
                break;
            }
            builder.admit(&batch)?;
            builder.add(batch)?;
        }
        builder.finish(batches).map(Some)
    }

    /// Reads a generation of a format before 26: the next one's first batch ends it, or the end of
    /// the file, or a batch that cannot be read.
    pub(crate) fn read_unended(
        batches: &mut Batches<'a>,
        format: Format,
    ) -> Result<Unended<'a>, Error> {
        let mut builder = Builder::new(format);
        let (mut has_more, mut error) = (false, None);
        loop {
            let batch = match batches.next() {
                Ok(Next::Batch(batch)) => batch,
                Ok(Next::EndOfFile) => break,
                Ok(Next::EndOfGeneration) => {
                    return Err(builder.error(batches.offset() - 1, ErrorKind::UnexpectedEnd));
                }
                Err(what) => {
                    let found = builder.error(batches.offset(), what);
                    if builder.is_new() {
                        return Err(found);
                    }
                    error = Some(found);
                    break;
                }
            };
            if builder.is_followed_by(&batch) {
                batches.go_back();
                has_more = true;
                break;
            }
            builder.admit(&batch)?;
            builder.add_unended(batch)?;
        }
        let generation = builder.finish(batches)?;
        Ok(Unended { generation, has_more, error })
    }
}
