//! JSON lines: one object of JSON for each allocation and free, in the order they happened.

use std::io::Write;
use std::ops::ControlFlow;

use slabscope_analysis::{Account, AnalyzeError, ObjectEvent, ReadError, each_object};

use super::{Export, Made, Source};
use crate::cut_off::Trouble;
use crate::exit_code::Outcome;
use crate::failure::{self, Failure};
use crate::{doubts, index, json, open, window};

/// The form.
pub(super) struct JsonLines;

impl Export for JsonLines {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn write(&self, source: &Source<'_>, out: &mut dyn Write) -> Result<Made, Failure> {
        let path = source.path;
        let mut written = Ok(());
        let read = each(source, &mut |event| {
            written = json::line(&event, out);
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        written?;
        let account = read.map_err(|error| Failure::input(path, window::refusal(&error)))?;
        doubts::say(path, &account);
        let outcome = if let Some(ReadError { offset, what, .. }) = &account.error {
            let message = format!("offset {offset}: {what}. Everything before that was written.");
            failure::say(&failure::about(path, message));
            Outcome::Finding
        } else {
            let state = account.state;
            Trouble { error: None, generations: 1, state, has_heap_events: true }.say(path)
        };
        Ok((outcome, account))
    }
}

/// Tells `each` of the part that was asked for; with an index, nothing long before it is read.
fn each(
    source: &Source<'_>,
    each: &mut dyn FnMut(ObjectEvent) -> ControlFlow<()>,
) -> Result<Result<Account, AnalyzeError>, Failure> {
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
