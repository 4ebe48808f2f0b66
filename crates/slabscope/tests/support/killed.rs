//! Traces that nobody ended.

use std::fs;
use std::path::{Path, PathBuf};

/// The live file beside a trace.
pub(crate) fn live_path(trace: &Path) -> PathBuf {
    PathBuf::from(format!("{}.live", trace.display()))
}

/// Makes a trace whole, in its place, from its live file; returns how many events only that had.
pub(crate) fn finish(path: &Path) -> u64 {
    let live_path = live_path(path);
    let live = fs::read(&live_path).expect("a live file");
    let needed = slabscope_recover::needed_len(&live).expect("a live file");
    let live = &live[..usize::try_from(needed).expect("a length")];
    let mut trace = fs::read(path).expect("a trace");
    let recovered = slabscope_recover::recover(trace.len() as u64, live);
    let recovered = recovered.expect("it can be recovered").expect("it did not end well");
    trace.truncate(recovered.keep);
    trace.extend(&recovered.tail);
    fs::write(path, trace).expect("the trace can be written");
    fs::remove_file(live_path).expect("the live file can be removed");
    recovered.events
}
