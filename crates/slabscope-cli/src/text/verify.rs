//! The result of a check as text: one line for each finding, examples below it.

use std::io::{self, Write};
use std::path::Path;

use slabscope_analysis::{Finding, SideProblem, Verification};

use super::{count, escape, moment, plural};

/// Writes what was found.
pub(crate) fn write(path: &Path, found: &Verification, out: &mut impl Write) -> io::Result<()> {
    let name = escape(&path.to_string_lossy());
    let checked = plural(found.heap_events, "heap event", "heap events");
    if found.is_sound() {
        writeln!(out, "{name}: sound. {checked} checked.")?;
        let counts = if found.has_counts {
            "Every event that happened is in the file, as its closing counts say."
        } else {
            "Go's traces carry no counts, so nothing tells whether an event is missing."
        };
        return writeln!(out, "{counts}");
    }
    let findings = plural(found.findings.len() as u64, "finding", "findings");
    writeln!(out, "{name}: NOT sound, {findings}. {checked} checked.")?;
    for finding in &found.findings {
        write_finding(finding, out)?;
    }
    Ok(())
}

fn write_finding(finding: &Finding, out: &mut impl Write) -> io::Result<()> {
    match finding {
        Finding::Broken(error) => {
            writeln!(out, "  offset {}: {}", error.offset, escape(&error.what))
        }
        Finding::Empty => writeln!(out, "  offset 16: there is nothing behind the header"),
        Finding::NoClosingCounts => {
            writeln!(out, "  no closing counts: the trace was cut off")
        }
        Finding::WriteFailed => {
            writeln!(out, "  tracing ended because the file could take no more")
        }
        Finding::Lost(row) => writeln!(
            out,
            "  {}: {} of {} that happened are lost",
            row.event,
            count(row.lost),
            count(row.happened)
        ),
        Finding::Miscounted(row) => writeln!(
            out,
            "  {}: {} in the file, but {} happened and {} are lost",
            row.event,
            count(row.in_file),
            count(row.happened),
            count(row.lost)
        ),
        Finding::CountsMissing { kinds } => {
            writeln!(out, "  the closing counts have only {kinds} of the nine kinds of event")
        }
        Finding::Fault(row) => {
            writeln!(out, "  {}: {}", row.kind, plural(row.count, "time", "times"))?;
            for example in &row.examples {
                writeln!(
                    out,
                    "    {}  thread {}  {} id {}",
                    moment(&example.at),
                    example.thread,
                    example.event,
                    example.id
                )?;
            }
            let more = row.count - row.examples.len() as u64;
            if more > 0 { writeln!(out, "    and {} more", count(more)) } else { Ok(()) }
        }
        Finding::UnknownSites { objects } => writeln!(
            out,
            "  {} allocated at sites the trace does not have",
            plural(*objects, "object", "objects")
        ),
        Finding::SideData(problem) => writeln!(out, "  {}", side_problem(problem)),
        Finding::MoreSideData { count: n } => {
            writeln!(out, "  side data: {} more such findings", count(*n))
        }
    }
}

/// A problem of side data, as a line.
pub(super) fn side_problem(problem: &SideProblem) -> String {
    let mut line = format!("side data of generation {}", problem.generation);
    if let Some(batch) = problem.batch {
        line.push_str(&format!(", batch {batch}"));
    }
    if let Some(kind) = problem.kind {
        line.push_str(&format!(" (kind {kind})"));
    }
    format!("{line} {}", escape(&problem.what))
}
