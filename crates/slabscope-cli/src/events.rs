//! The events of a part of a trace; with an index, nothing long before it is read.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use slabscope_analysis::{Beginning, EventsRead, Stretch, Window, each_event, stretch};
use slabscope_trace::{Event, Open};

use crate::failure::Failure;
use crate::window::WindowArgs;
use crate::{index, open, window};

/// Hands out the events of the part that was asked for.
pub(crate) fn each(
    path: &Path,
    args: WindowArgs,
    mut take: impl FnMut(&Event) -> io::Result<()>,
) -> Result<EventsRead, Failure> {
    let (part, beginning, trace) = begin(path, args)?;
    let mut taken = Ok(());
    let read = each_event(trace, part, beginning, |event| {
        taken = take(event);
        if taken.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    taken?;
    read.map_err(|error| Failure::input(path, window::refusal(&error)))
}

/// Where in the file the generations lie that have the part which was asked for.
pub(crate) fn bytes(path: &Path, args: WindowArgs) -> Result<Stretch, Failure> {
    let (part, beginning, trace) = begin(path, args)?;
    let found = stretch(trace, part, beginning);
    found.map_err(|error| Failure::input(path, window::refusal(&error)))
}

type Begun = (Window, Option<Beginning>, Open<'static>);

fn begin(path: &Path, args: WindowArgs) -> Result<Begun, Failure> {
    let part = args.window().map_err(Failure::Input)?;
    let is_indexed = part.from.is_some() && args.may_index();
    let known = if is_indexed { index::beginning(path, part) } else { None };
    let known = known.transpose();
    match known.map_err(|error| Failure::input(path, window::refusal(&error)))? {
        Some((beginning, trace)) => Ok((part, Some(beginning), trace)),
        None => Ok((part, None, open::trace(path)?.open)),
    }
}
