//! Ways to begin reading: on this thread or ahead on others, with experiments of one's own or not.

use std::num::NonZero;

use slabscope_wire::header;

use super::{End, Reader};
use crate::ahead;
use crate::catalog::{Catalog, STANDARD};
use crate::error::Error;
use crate::id::Time;
use crate::merge::Rest;
use crate::order::Order;
use crate::run::Feed;
use crate::source::Source;
use crate::supply::Supply;

impl<'a> Reader<'a> {
    /// A reader of the trace that is `bytes`.
    ///
    /// # Errors
    /// When it does not begin as a trace of format version 1.22 to 1.26.
    pub fn new(bytes: &'a [u8]) -> Result<Reader<'a>, Error> {
        Reader::with_catalog(bytes, &STANDARD)
    }

    /// The same, with experiments of your own.
    ///
    /// # Errors
    /// As for [`Reader::new`].
    pub fn with_catalog(bytes: &'a [u8], catalog: &'static Catalog) -> Result<Reader<'a>, Error> {
        let source = Source::new(bytes, catalog)?;
        Ok(Reader::over(source.version(), bytes, catalog, Supply::own(source)))
    }

    /// Runs `body` with a reader of the trace that is `bytes`, while `threads` other threads
    /// decode ahead of it, a generation each.
    ///
    /// The events are the same, in the same order. Up to 64 MiB for each thread may wait for the
    /// reader. The threads end when the reader is dropped.
    ///
    /// ```
    /// use std::num::NonZero;
    ///
    /// use slabscope_trace::{Reader, Run};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/go1.27-allocfree-small.trace");
    /// let bytes = std::fs::read(path)?;
    /// let threads = std::thread::available_parallelism()?;
    /// let events = Reader::ahead(&bytes, threads, |mut reader| {
    ///     let mut events = 0;
    ///     while let Some(run) = reader.next_run() {
    ///         events += match run? {
    ///             Run::Event(_) => 1,
    ///             Run::Experimental(run) => run.count(),
    ///         };
    ///     }
    ///     Ok::<_, slabscope_trace::Error>(events)
    /// })??;
    /// assert_eq!(events, Reader::new(&bytes)?.count());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`Reader::new`].
    pub fn ahead<T>(
        bytes: &'a [u8],
        threads: NonZero<usize>,
        body: impl FnOnce(Reader<'a>) -> T,
    ) -> Result<T, Error> {
        Reader::ahead_with_catalog(bytes, &STANDARD, threads, body)
    }

    /// The same, with experiments of your own.
    ///
    /// # Errors
    /// As for [`Reader::new`].
    pub fn ahead_with_catalog<T>(
        bytes: &'a [u8],
        catalog: &'static Catalog,
        threads: NonZero<usize>,
        body: impl FnOnce(Reader<'a>) -> T,
    ) -> Result<T, Error> {
        let source = Source::new(bytes, catalog)?;
        let version = source.version();
        Ok(ahead::with(source, threads, |ahead| {
            body(Reader::over(version, bytes, catalog, Supply::Ahead(ahead)))
        }))
    }

    fn over(
        version: u8,
        bytes: &[u8],
        catalog: &'static Catalog,
        supply: Supply<'a>,
    ) -> Reader<'a> {
        Reader {
            version,
            catalog,
            len: bytes.len() as u64,
            offset: header::LEN as u64,
            supply,
            generation: None,
            threads: Vec::new(),
            feed: Feed::default(),
            is_plain: false,
            rest: Rest::default(),
            samples_done: 0,
            order: Order::default(),
            last: Time(0),
            syncs: 0,
            end: End::Ahead,
        }
    }
}
