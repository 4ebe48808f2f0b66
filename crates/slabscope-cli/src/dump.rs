//! `slabscope dump`: the events or records of a trace as Go prints them, or as JSON.

mod row;

use std::io::{self, BufWriter, IsTerminal, Write, stdout};
use std::ops::ControlFlow;

use slabscope_analysis::each_event;
use slabscope_trace::{Error, Event, dump};

use crate::args::DumpArgs;
use crate::exit_code::Outcome;
use crate::failure::{self, Failure};
use crate::text::Escaping;
use crate::{index, json, open, window};

use row::Row;

pub(crate) fn run(args: &DumpArgs) -> Result<Outcome, Failure> {
    let stdout = stdout().lock();
    // Names in a trace are anyone's; a pipe gets them as Go prints them, a terminal does not.
    let read = if stdout.is_terminal() {
        let mut out = BufWriter::new(Escaping::new(stdout));
        write_all(args, &mut out)?
    } else {
        let mut out = BufWriter::with_capacity(1 << 16, stdout);
        write_all(args, &mut out)?
    };
    let Some(error) = read else { return Ok(Outcome::Fine) };
    let message = format!("{error}. Everything before that was printed.");
    failure::say(&failure::about(&args.file, message));
    Ok(Outcome::Finding)
}

/// Returns what ended the reading before the file's end.
fn write_all(args: &DumpArgs, out: &mut impl Write) -> Result<Option<Error>, Failure> {
    let read = if args.wire {
        dump::wire(&open::whole(&args.file)?, out)?.err()
    } else if args.json {
        json::head(&args.file, out)?;
        events(args, |event| json::line(&Row(event), out))?
    } else {
        events(args, |event| dump::parsed(event, out))?
    };
    out.flush()?;
    Ok(read)
}

/// Hands out the events of the part that was asked for; with an index, nothing long before it is read.
fn events(
    args: &DumpArgs,
    mut write: impl FnMut(&Event) -> io::Result<()>,
) -> Result<Option<Error>, Failure> {
    let part = args.window.window().map_err(Failure::Input)?;
    let failed = |error| Failure::input(&args.file, window::refusal(&error));
    let is_indexed = part.from.is_some() && args.window.may_index();
    let known = if is_indexed { index::beginning(&args.file, part) } else { None };
    let (beginning, trace) = match known.transpose().map_err(failed)? {
        Some((beginning, trace)) => (Some(beginning), trace),
        None => (None, open::trace(&args.file)?.open),
    };
    let mut written = Ok(());
    let read = each_event(trace, part, beginning, |event| {
        written = write(event);
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    written?;
    read.map_err(failed)
}
