//! Events by the thousand: what programs that look at every allocation go through.

mod placed;
mod visit;

pub(crate) use placed::Placing;
pub use placed::{Place, Placed, Placer, Row, RowEvents};
pub use visit::Visitor;

use crate::catalog::Catalog;
use crate::event::{Event, Kind};
use crate::experiment::ExperimentalEvent;
use crate::id::{GoId, ProcId, ThreadId, Time};
use crate::merge::{Checked, Events, Plain};
use crate::order::{Context, Order};

/// What comes next in a trace: one event of any kind, or many of experiments.
#[derive(Debug)]
pub enum Run<'r> {
    /// Any event.
    Event(Event),
    /// Events of experiments, one after the other with nothing in between.
    Experimental(ExperimentalRun<'r>),
}

/// An event of an experiment: an [`Event`] without a stack whose kind is
/// [`Kind::Experimental`].
#[derive(Clone, Copy, Debug)]
pub struct Experimental {
    /// When; later than every event before it in the trace.
    pub time: Time,
    /// The thread it happened on.
    pub thread: ThreadId,
    /// The processor that thread had.
    pub proc: ProcId,
    /// The goroutine that ran.
    pub goroutine: GoId,
    /// What happened.
    pub event: ExperimentalEvent,
}

impl From<Experimental> for Event {
    #[inline]
    fn from(experimental: Experimental) -> Event {
        let Experimental { time, thread, proc, goroutine, event } = experimental;
        Event { time, thread, proc, goroutine, stack: None, kind: Kind::Experimental(event) }
    }
}

/// Events of experiments, in order.
///
/// Those that are not taken before it is dropped come again with the reader's next.
#[derive(Debug)]
pub struct ExperimentalRun<'r> {
    pub(crate) feed: &'r mut Feed,
    pub(crate) generation: u64,
    pub(crate) catalog: &'static Catalog,
    pub(crate) threads: &'r [ThreadId],
    pub(crate) order: &'r mut Order,
    pub(crate) last: &'r mut Time,
}

impl Iterator for ExperimentalRun<'_> {
    type Item = Experimental;

    #[inline]
    fn next(&mut self) -> Option<Experimental> {
        let plain = self.feed.events.plain.get(self.feed.at).filter(|next| !next.is_checked())?;
        self.feed.at += 1;
        let lane = usize::from(plain.lane);
        let cx = match self.feed.contexts.get(lane) {
            Some(&Some(cx)) => cx,
            _ => meet(&mut self.feed.contexts, lane, self.generation, self.threads, self.order),
        };
        *self.last = later(plain.time, *self.last);
        let Context { thread, proc, goroutine } = cx;
        let event = plain.event(self.catalog)?;
        Some(Experimental { time: *self.last, thread, proc, goroutine, event })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.feed.events.plain.len() - self.feed.at))
    }
}

/// Whatever the clocks say, time goes on.
#[inline]
pub(crate) fn later(time: Time, last: Time) -> Time {
    if time <= last { Time(last.0.wrapping_add(1)) } else { time }
}

/// What a thread has at its first event of the generation, and until one that is not plain.
#[cold]
fn meet(
    contexts: &mut Vec<Option<Context>>,
    lane: usize,
    generation: u64,
    threads: &[ThreadId],
    order: &mut Order,
) -> Context {
    let thread = threads.get(lane).copied().unwrap_or(ThreadId::NONE);
    let cx = order.context(generation, thread, &mut None);
    if contexts.len() <= lane {
        contexts.resize(lane + 1, None);
    }
    if let Some(context) = contexts.get_mut(lane) {
        *context = Some(cx);
    }
    cx
}

/// Events that are in order and were not handed out.
#[derive(Debug, Default)]
pub(crate) struct Feed {
    pub(crate) events: Events,
    /// The first that was not handed out.
    pub(crate) at: usize,
    /// What each thread of the generation has, once it was met.
    contexts: Vec<Option<Context>>,
}

impl Feed {
    /// Forgets the generation.
    pub(crate) fn clear(&mut self) {
        self.events.clear();
        self.at = 0;
        self.contexts.clear();
    }

    /// The first event.
    #[inline]
    pub(crate) fn head(&self) -> Option<&Plain> {
        self.events.plain.get(self.at)
    }

    /// The first event, which must be checked, and the place of its thread in the generation.
    pub(crate) fn take_checked(&mut self) -> Option<(Checked, usize)> {
        let lane = usize::from(self.head().filter(|head| head.is_checked())?.lane);
        self.at += 1;
        // It may change what any thread has.
        self.contexts.clear();
        Some((self.events.checked.pop_front()?, lane))
    }
}
