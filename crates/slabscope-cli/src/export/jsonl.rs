//! JSON lines: one object of JSON for each allocation and free, in the order they happened.

use std::io::Write;
use std::ops::ControlFlow;

use slabscope_analysis::{AnalyzeError, ObjectEvent, ReadError, each_object};

use super::{Export, Source};
use crate::exit_code::Outcome;
use crate::failure::{self, Failure};
use crate::{index, json, open, window};

/// The form.
pub(super) struct JsonLines;

impl Export for JsonLines {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn write(&self, source: &Source<'_>, out: &mut dyn Write) -> Result<Outcome, Failure> {
        let path = source.path;
        let mut written = Ok(());
        let read = each(source, &mut |event| {
            written = json::line(&event, out);
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        written?;
        let error = read.map_err(|error| Failure::input(path, window::refusal(&error)))?;
        let Some(error) = error else { return Ok(Outcome::Fine) };
        let message =
            format!("offset {}: {}. Everything before that was written.", error.offset, error.what);
        failure::say(&failure::about(path, message));
        Ok(Outcome::Finding)
    }
}

/// Tells `each` of the part that was asked for; with an index, nothing long before it is read.
fn each(
    source: &Source<'_>,
    each: &mut dyn FnMut(ObjectEvent) -> ControlFlow<()>,
) -> Result<Result<Option<ReadError>, AnalyzeError>, Failure> {
    let (path, window) = (source.path, source.options.window);
    let symbols = || source.options.symbols.clone();
    if window.from.is_some()
        && source.window.may_index()
        && let Some(read) = index::each_object(path, window, symbols(), each)
    {
        return Ok(read);
    }
    Ok(each_object(open::trace(path)?.open, window, symbols(), each))
}
