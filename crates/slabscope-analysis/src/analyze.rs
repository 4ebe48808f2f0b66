//! From a trace to its report.

use slabscope_trace::Open;

use crate::error::AnalyzeError;
use crate::profile::{ProfileOptions, profile_without_names};
use crate::report::Report;
use crate::window::Window;

/// Replays the part `window` of a trace.
///
/// `progress` is told now and then how many bytes were read. A trace that breaks off or is broken
/// further on gets the report of what was read before; [`Report::error`] says where that ended.
///
/// # Errors
/// When the trace has no such part.
pub fn analyze(
    trace: Open<'_>,
    window: Window,
    progress: &mut dyn FnMut(u64),
) -> Result<Report, AnalyzeError> {
    let options = ProfileOptions { window, ..ProfileOptions::default() };
    Ok(profile_without_names(trace, &options, progress)?.report())
}
