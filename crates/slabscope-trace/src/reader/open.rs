//! Ways to begin reading: the whole trace in memory or not, on this thread or ahead on another, with
//! experiments of one's own or not.

use std::io::Read;

use slabscope_wire::header;

use super::{End, Reader};
use crate::ahead;
use crate::catalog::{Catalog, STANDARD};
use crate::error::Error;
use crate::id::Time;
use crate::input::Input;
use crate::merge::Rest;
use crate::order::Order;
use crate::run::{Feed, Placer, Placing};
use crate::source::Source;
use crate::supply::Supply;

/// A trace, and how it is to be read.
///
/// ```
/// use slabscope_trace::{Open, Run};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/go1.27-allocfree-small.trace");
/// let file = std::fs::File::open(path)?;
/// let events = Open::stream(file)?.ahead(|mut reader| {
///     let mut events = 0;
///     while let Some(run) = reader.next_run() {
///         events += match run? {
///             Run::Event(_) => 1,
///             Run::Experimental(run) => run.count(),
///         };
///     }
///     Ok::<_, slabscope_trace::Error>(events)
/// })?;
/// assert_eq!(events, slabscope_trace::Reader::new(&std::fs::read(path)?)?.count());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Open<'a> {
    source: Source<'a>,
    catalog: &'static Catalog,
    resumed: Resume,
    placing: Placing<'a>,
}

/// Where reading goes on in a trace that was read up to the end of a generation.
///
/// Only what a generation says of itself is known then. Traces of slabscope repeat in each generation
/// what it takes to read it; in Go's, goroutines of earlier generations are unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// The format version, as [`Reader::version`] has it.
    pub version: u8,
    /// Where in the file the next generation begins, in bytes.
    pub offset: u64,
    /// The time of the last event.
    pub last: Time,
    /// How many sync events there were.
    pub syncs: u64,
}

impl<'a> Open<'a> {
    /// The trace that is `bytes`.
    ///
    /// # Errors
    /// When it does not begin as a trace of format version 1.22 to 1.26.
    pub fn bytes(bytes: &'a [u8]) -> Result<Open<'a>, Error> {
        Open::new(Input::Whole(bytes), &STANDARD)
    }

    /// The same, with experiments of your own.
    ///
    /// # Errors
    /// As for [`Open::bytes`].
    pub fn with_catalog(bytes: &'a [u8], catalog: &'static Catalog) -> Result<Open<'a>, Error> {
        Open::new(Input::Whole(bytes), catalog)
    }

    /// The trace that `read` gives. A generation of it is in memory at a time, or two where another
    /// thread reads ahead.
    ///
    /// # Errors
    /// As for [`Open::bytes`], and when it cannot be read.
    pub fn stream(read: impl Read + Send + 'a) -> Result<Open<'a>, Error> {
        Open::new(Input::stream(Box::new(read), 0), &STANDARD)
    }

    /// The rest of a trace, which `read` gives from [`Resume::offset`] on.
    pub fn resumed(read: impl Read + Send + 'a, at: Resume) -> Open<'a> {
        let input = Input::stream(Box::new(read), at.offset);
        let source = Source::resumed(at.version, input, &STANDARD);
        Open { source, catalog: &STANDARD, resumed: at, placing: Placing::default() }
    }

    fn new(input: Input<'a>, catalog: &'static Catalog) -> Result<Open<'a>, Error> {
        let source = Source::new(input, catalog)?;
        let (version, offset) = (source.version(), header::LEN as u64);
        let resumed = Resume { version, offset, last: Time(0), syncs: 0 };
        Ok(Open { source, catalog, resumed, placing: Placing::default() })
    }

    /// The same, and `placer` finds the places of objects before their events are handed out: what is
    /// found comes by [`Visitor::placed`](crate::Visitor::placed).
    pub fn placing(self, placer: impl Placer + Send + 'a) -> Open<'a> {
        Open { placing: Placing::by(placer), ..self }
    }

    /// A reader on this thread.
    pub fn here(self) -> Reader<'a> {
        let Open { source, catalog, resumed, placing } = self;
        Reader::over(resumed, catalog, Supply::own(source, placing))
    }

    /// Runs `body` with a reader while another thread decodes ahead of it.
    ///
    /// The events are the same, in the same order. The thread ends when the reader is dropped.
    pub fn ahead<T>(self, body: impl FnOnce(Reader<'a>) -> T) -> T {
        let Open { source, catalog, resumed, placing } = self;
        let body = |ahead| body(Reader::over(resumed, catalog, Supply::Ahead(ahead)));
        ahead::with(source, placing, body)
    }
}

impl<'a> Reader<'a> {
    /// A reader of the trace that is `bytes`. [`Open`] has other ways to begin.
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
        Ok(Open::new(Input::Whole(bytes), catalog)?.here())
    }

    /// Where reading can go on when the generation that was read last has been handed out whole: the
    /// next event is a sync event.
    pub fn resume(&self) -> Resume {
        let Reader { version, offset, last, syncs, .. } = *self;
        Resume { version, offset, last, syncs }
    }

    fn over(resumed: Resume, catalog: &'static Catalog, supply: Supply<'a>) -> Reader<'a> {
        let Resume { version, offset, last, syncs } = resumed;
        Reader {
            version,
            catalog,
            offset,
            supply,
            generation: None,
            threads: Vec::new(),
            feed: Feed::default(),
            is_plain: false,
            rest: Rest::default(),
            samples_done: 0,
            order: Order::default(),
            last,
            syncs,
            end: End::Ahead,
        }
    }
}
