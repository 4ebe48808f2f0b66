//! The events of a part of a trace, one by one, as the reader hands them out.

mod stretch;
mod tally;

pub use stretch::{Stretch, stretch};

use std::ops::ControlFlow;

use slabscope_trace::{Error, Event, Kind, Open, Resume};

use crate::error::AnalyzeError;
use crate::moment::Clock;
use crate::report::Account;
use crate::window::{Limits, Window};
pub(crate) use tally::Tally;

/// A place to read from, from which on nothing of a part is missing.
///
/// An index knows one that is not far before the part's first event.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// The trace's clock, which the events before that place told.
    pub(crate) clock: Clock,
    pub(crate) tally: Tally,
    pub(crate) at: Option<Resume>,
}

impl Beginning {
    /// Where in the file reading goes on; `None` for its start.
    pub fn at(&self) -> Option<Resume> {
        self.at
    }
}

/// What reading the events of a part came to.
#[derive(Clone, Debug)]
pub struct EventsRead {
    /// What ended it before the file's end.
    pub error: Option<Error>,
    /// Whether the trace is all there.
    pub account: Account,
}

/// Tells `each` of every event in a part of a trace, in order, until it breaks off. `trace` is whole, or
/// begins where `beginning` says.
///
/// # Errors
/// When the trace has no such part.
pub fn each_event(
    trace: Open<'_>,
    window: Window,
    beginning: Option<Beginning>,
    mut each: impl FnMut(&Event) -> ControlFlow<()>,
) -> Result<EventsRead, AnalyzeError> {
    let mut tally = beginning.as_ref().map_or_else(Tally::default, |known| known.tally.clone());
    let (error, is_over) = walk(trace, window, beginning, |event, step| {
        tally.take(event);
        if step.is_in { each(event) } else { ControlFlow::Continue(()) }
    })?;
    Ok(EventsRead { error, account: tally.account(error, is_over) })
}

/// An event's place in the file, and in the part.
struct Step {
    /// Where its generation begins, if it is the sync event with which that does.
    at: Resume,
    /// Where its generation ends.
    end: u64,
    is_in: bool,
}

/// Tells `each` of every event up to the end of a part, until it breaks off. Returns what ended that before the
/// file's end, and whether the part, or `each`, did.
fn walk(
    trace: Open<'_>,
    window: Window,
    beginning: Option<Beginning>,
    mut each: impl FnMut(&Event, &Step) -> ControlFlow<()>,
) -> Result<(Option<Error>, bool), AnalyzeError> {
    let mut clock = beginning.map_or_else(Clock::default, |beginning| beginning.clock);
    let (mut limits, mut last, mut has_begun) = (None, None, window.from.is_none());
    trace.ahead(|mut reader| {
        loop {
            let at = reader.resume();
            let event = match reader.next() {
                None => break,
                Some(Ok(event)) => event,
                Some(Err(error)) => return Ok((Some(error), false)),
            };
            // The first event is one, so that there is a clock for the limits.
            if let Kind::Sync(sync) = &event.kind {
                clock.sync(event.time, sync.clock);
            }
            let Limits { from, to } = match limits {
                Some(limits) => limits,
                None => {
                    let known = Limits::new(window, &clock).ok_or(AnalyzeError::NoWallClock)?;
                    *limits.insert(known)
                }
            };
            if to.is_some_and(|to| event.time >= to) {
                return Ok((None, true));
            }
            last = Some(event.time);
            let is_in = from.is_none_or(|from| event.time >= from);
            has_begun |= is_in;
            if each(&event, &Step { at, end: reader.offset(), is_in }).is_break() {
                return Ok((None, true));
            }
        }
        match last {
            Some(last) if !has_begun => Err(AnalyzeError::BehindEnd { end: clock.moment(last) }),
            _ => Ok((None, false)),
        }
    })
}
