//! From the bytes of a trace to its report.

use crate::error::AnalyzeError;
use crate::replay::{Replayed, replay};
use crate::report::{Events, Report};
use crate::tally::Tally;
use crate::window::Window;

/// Replays the part `window` of the trace that is `bytes`.
///
/// `progress` is told now and then how many bytes were read. A trace that breaks off or is broken
/// further on gets the report of what was read before; [`Report::error`] says where that ended.
///
/// # Errors
/// When the bytes do not begin as a trace that can be read, or have no such part.
pub fn analyze(
    bytes: &[u8],
    window: Window,
    progress: &mut dyn FnMut(u64),
) -> Result<Report, AnalyzeError> {
    Ok(report(replay(bytes, window, Tally::default(), progress)?))
}

fn report(replayed: Replayed<Tally>) -> Report {
    let (tracing, units) = (replayed.tracing(), replayed.side.units());
    let tally = replayed.lens;
    let (peak_time, peak_pages) = tally.spans.peak();
    let peak_at = tally.moment_of_peak(peak_time, peak_pages);
    Report {
        tracing,
        part: replayed.part,
        completeness: replayed.completeness,
        events: Events { heap: replayed.counts, other: replayed.other },
        objects: tally.objects(),
        stacks: tally.stacks(),
        classes: tally.classes.into_rows(),
        threads: tally.threads.into_rows(&replayed.threads, &replayed.clock),
        spans: tally.spans.into_report(&replayed.heap, &units, peak_at),
        faults: tally.faults.into_rows(),
        side_problems: replayed.side.problems,
        side_problem_count: replayed.side.problem_count,
        unknown_sites: replayed.unknown_sites,
        error: replayed.error,
    }
}
