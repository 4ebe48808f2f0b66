//! Which bytes of a trace are about a part of it.

use std::ops::ControlFlow;

use slabscope_trace::{Error, Kind, Open};

use super::{Beginning, walk};
use crate::error::AnalyzeError;
use crate::window::Window;

/// The bytes of the generations that a part of a trace lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Where they begin.
    pub start: u64,
    /// Where they end.
    pub end: u64,
    /// What ended the reading before the end of the part.
    pub error: Option<Error>,
}

/// The bytes of the generations that the part `window` lies in, all of each: in a generation records have no
/// order by time. `trace` is whole, or begins where `beginning` says.
///
/// # Errors
/// When the trace has no such part.
pub fn stretch(
    trace: Open<'_>,
    window: Window,
    beginning: Option<Beginning>,
) -> Result<Stretch, AnalyzeError> {
    let (mut generation, mut start, mut end) = (0, None, 0);
    let (error, _) = walk(trace, window, beginning, |event, step| {
        if matches!(event.kind, Kind::Sync(_)) {
            generation = step.at.offset;
        }
        if step.is_in {
            start.get_or_insert(generation);
            end = step.end;
        }
        ControlFlow::Continue(())
    })?;
    Ok(Stretch { start: start.unwrap_or(end), end, error })
}
