//! A recorder or profiler that runs while a workload is measured: begun right before, ended right after,
//! so that what it costs is in the time and what it counts is the workload's alone.

use std::sync::OnceLock;
use std::time::Instant;

/// What records.
#[derive(Clone, Copy, Debug)]
pub struct Recorder {
    /// Begins; not in the measured time.
    pub begin: fn(),
    /// Ends, and tells what was recorded; not in the measured time either, but in
    /// [`Recorded::end_nanos`].
    pub end: fn() -> Recorded,
}

/// What was recorded of one workload; zeros where the recorder does not tell.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recorded {
    /// Events that happened.
    pub events: u64,
    /// Of these, events that are not in the file.
    pub lost: u64,
    /// Length of the file.
    pub bytes: u64,
    /// How long the end took, in nanoseconds.
    pub end_nanos: u64,
}

static RECORDER: OnceLock<Recorder> = OnceLock::new();

/// Has `recorder` record, if the program's second argument is `recorded`.
pub fn by(recorder: Recorder) {
    if std::env::args().nth(2).as_deref() == Some("recorded") {
        let _ = RECORDER.set(recorder);
    }
}

pub(super) fn begin() {
    if let Some(recorder) = RECORDER.get() {
        (recorder.begin)();
    }
}

pub(super) fn end() -> Recorded {
    let Some(recorder) = RECORDER.get() else { return Recorded::default() };
    let begun = Instant::now();
    let recorded = (recorder.end)();
    Recorded { end_nanos: begun.elapsed().as_nanos() as u64, ..recorded }
}
