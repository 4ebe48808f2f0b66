//! JSON lines: one object of JSON for each allocation and free, in the order they happened.

use std::io::Write;
use std::ops::ControlFlow;

use slabscope_analysis::each_object;

use super::{Export, Source};
use crate::exit_code::Outcome;
use crate::failure::{self, Failure};
use crate::{json, open, window};

/// The form.
pub(super) struct JsonLines;

impl Export for JsonLines {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn write(&self, source: &Source<'_>, out: &mut dyn Write) -> Result<Outcome, Failure> {
        let path = source.path;
        let trace = open::trace(path)?.open;
        let mut written = Ok(());
        let symbols = source.options.symbols.clone();
        let read = each_object(trace, source.options.window, symbols, &mut |event| {
            written = json::line(&event, out);
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        written?;
        let error = read.map_err(|error| Failure::input(path, window::refusal(&error)))?;
        let Some(error) = error else { return Ok(Outcome::Fine) };
        let message =
            format!("offset {}: {}. Everything before that was written.", error.offset, error.what);
        failure::say(&failure::about(path, message));
        Ok(Outcome::Finding)
    }
}
