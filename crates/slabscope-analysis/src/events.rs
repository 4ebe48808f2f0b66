//! The events of a part of a trace, one by one, as the reader hands them out.

use std::ops::ControlFlow;

use slabscope_trace::{Error, Event, Kind, Open, Resume};

use crate::error::AnalyzeError;
use crate::moment::Clock;
use crate::window::{Limits, Window};

/// A place to read from, from which on nothing of a part is missing.
///
/// An index knows one that is not far before the part's first event.
#[derive(Clone, Copy, Debug)]
pub struct Beginning {
    /// The trace's clock, which the events before that place told.
    pub(crate) clock: Clock,
    pub(crate) at: Option<Resume>,
}

impl Beginning {
    /// Where in the file reading goes on; `None` for its start.
    pub fn at(&self) -> Option<Resume> {
        self.at
    }
}

/// Tells `each` of every event in a part of a trace, in order, until it breaks off. `trace` is whole, or
/// begins where `beginning` says. Returns what ended the reading before the file's end.
///
/// # Errors
/// When the trace has no such part.
pub fn each_event(
    trace: Open<'_>,
    window: Window,
    beginning: Option<Beginning>,
    mut each: impl FnMut(&Event) -> ControlFlow<()>,
) -> Result<Option<Error>, AnalyzeError> {
    let mut clock = beginning.map_or_else(Clock::default, |beginning| beginning.clock);
    let (mut limits, mut last, mut is_in) = (None, None, window.from.is_none());
    trace.ahead(|reader| {
        for event in reader {
            let event = match event {
                Ok(event) => event,
                Err(error) => return Ok(Some(error)),
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
                return Ok(None);
            }
            last = Some(event.time);
            if from.is_some_and(|from| event.time < from) {
                continue;
            }
            is_in = true;
            if each(&event).is_break() {
                return Ok(None);
            }
        }
        match last {
            Some(last) if !is_in => Err(AnalyzeError::BehindEnd { end: clock.moment(last) }),
            _ => Ok(None),
        }
    })
}
