//! `slabscope report`: what a trace tells about the heap.

use std::io::{BufWriter, Write, stdout};
use std::path::Path;

use serde::Serialize;
use slabscope_analysis::{ReadError, Report, State, analyze};

use crate::args::ReportArgs;
use crate::exit_code::Outcome;
use crate::failure::{self, Failure};
use crate::progress::Progress;
use crate::text::report::Rows;
use crate::window::{self, WindowArgs};
use crate::{json, open, text};

pub(crate) fn run(args: &ReportArgs) -> Result<Outcome, Failure> {
    let report = replay(&args.file, args.window)?;
    let mut out = BufWriter::new(stdout().lock());
    if args.json {
        json::write(&args.file, &Named { report: &report }, &mut out)?;
    } else {
        let rows = if args.all { Rows::All } else { Rows::Largest };
        text::report::write(&args.file, &report, rows, &mut out)?;
    }
    out.flush()?;
    Ok(say_if_cut_off(&args.file, &report))
}

#[derive(Serialize)]
struct Named<'a> {
    report: &'a Report,
}

/// The report of the file.
pub(crate) fn replay(path: &Path, window: WindowArgs) -> Result<Report, Failure> {
    let window = window.window().map_err(Failure::Input)?;
    let bytes = open::trace(path)?;
    let progress = Progress::new(bytes.len());
    analyze(&bytes, window, &mut |read| progress.at(read))
        .map_err(|error| Failure::input(path, format!("{error}. {}", window::advice(&error))))
}

/// A report of a part of a trace must not pass for one of all of it.
fn say_if_cut_off(path: &Path, report: &Report) -> Outcome {
    let message = match &report.error {
        Some(error) => format!("{}. {}", place(error), advice(error, report)),
        None if report.tracing.generations == 0 => {
            "offset 16: there is nothing behind the header. The program was killed before it \
             wrote any event; trace it again."
                .to_owned()
        }
        None if report.completeness.state == State::CutOff => {
            "it has no closing counts, so it was cut off. The report covers what is there; \
             trace the program again if you need its end."
                .to_owned()
        }
        None => return Outcome::Fine,
    };
    failure::say(&failure::about(path, message));
    Outcome::Finding
}

fn place(error: &ReadError) -> String {
    match error.generation {
        0 => format!("offset {}: {}", error.offset, error.what),
        generation => format!("offset {}, generation {generation}: {}", error.offset, error.what),
    }
}

fn advice(error: &ReadError, report: &Report) -> &'static str {
    match (error.is_cut_off, report.events.heap_total() > 0) {
        (true, true) => {
            "The report covers what was read before; trace the program again if you need its end."
        }
        (true, false) => "No event of the heap comes before that; trace the program again.",
        (false, _) => {
            "The report covers what was read before; the file was damaged or is not what its \
             writer wrote: copy it again, or trace the program again."
        }
    }
}
