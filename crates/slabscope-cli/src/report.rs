//! `slabscope report`: what a trace tells about the heap.

use std::io::{BufWriter, Write, stdout};
use std::path::Path;

use serde::Serialize;
use slabscope_analysis::Report;

use crate::args::ReportArgs;
use crate::cut_off::Trouble;
use crate::exit_code::Outcome;
use crate::failure::Failure;
use crate::symbols::SymbolArgs;
use crate::text::report::Rows;
use crate::window::WindowArgs;
use crate::{explain, index, json, text};

pub(crate) fn run(args: &ReportArgs) -> Result<Outcome, Failure> {
    let report = replay(&args.file, args.window)?;
    let mut out = BufWriter::new(stdout().lock());
    if args.json {
        json::write(&args.file, &report.account(), &Named { report: &report }, &mut out)?;
    } else {
        let rows = if args.all { Rows::All } else { Rows::Largest };
        text::report::write(&args.file, &report, rows, &mut out)?;
    }
    out.flush()?;
    let trouble = Trouble {
        error: report.error.as_ref(),
        generations: report.tracing.generations,
        state: report.completeness.state,
        has_heap_events: report.events.heap_total() > 0,
    };
    Ok(trouble.say(&args.file))
}

#[derive(Serialize)]
struct Named<'a> {
    report: &'a Report,
}

/// The report of the file.
pub(crate) fn replay(path: &Path, window: WindowArgs) -> Result<Report, Failure> {
    let options = explain::options(window, &SymbolArgs::default())?;
    Ok(index::profile(path, &options, window.may_index())?.report())
}
