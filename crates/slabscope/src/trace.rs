//! Traces, begun and ended from inside the program.
//!
//! ```no_run
//! slabscope::trace::start()?;
//! let rows: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
//! drop(rows);
//! let summary = slabscope::trace::stop().expect("the trace begun above");
//! println!("{} events, {} lost, {} bytes", summary.events, summary.lost, summary.bytes);
//! # Ok::<(), slabscope::trace::StartError>(())
//! ```
//!
//! A trace begins with everything that exists at one moment, and has every event from then on to its
//! end, of all threads. One trace runs at a time. A program that exits by `exit` or by returning from
//! `main` ends a running trace by itself.

use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use std::os::unix::ffi::OsStrExt;

use slabscope_os::say;
use slabscope_record::{EndReason, StartError as RecorderError};

use crate::env::{Path, Settings, Text};
use crate::session::{self, Refusal, Request};
use crate::watch;

/// Why a trace did not begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartError {
    /// A trace is running already.
    AlreadyRunning,
    /// The file could not be made, for the reason given.
    File(&'static str),
    /// There is no memory or address space for the recorder: 1 MiB for each CPU, and some 200 MiB of
    /// address space.
    Memory,
    /// The thread that writes the file could not be started, for the reason given.
    Thread(&'static str),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::AlreadyRunning => f.write_str("a trace is running already"),
            StartError::File(why) => write!(f, "the trace file cannot be made: {why}"),
            StartError::Memory => f.write_str("no memory for the recorder"),
            StartError::Thread(why) => write!(f, "the recorder's thread cannot be started: {why}"),
        }
    }
}

impl core::error::Error for StartError {}

impl From<Refusal> for StartError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Running => StartError::AlreadyRunning,
            Refusal::Recorder(RecorderError::File(error)) => StartError::File(error.text()),
            Refusal::Recorder(RecorderError::Memory) => StartError::Memory,
            Refusal::Recorder(RecorderError::Thread(error)) => StartError::Thread(error.text()),
        }
    }
}

/// What a trace came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Events that happened while it ran, those that describe its beginning included.
    pub events: u64,
    /// Of these, events that are not in the file.
    pub lost: u64,
    /// Length of the file, in bytes.
    pub bytes: u64,
    /// Why the file ends early, if it does.
    pub failure: Option<&'static str>,
}

/// Begins a trace in the file that `out` in the variable `SLABSCOPE` names, else in
/// `<program>.<pid>.trace`. An existing file is overwritten.
///
/// # Errors
/// See [`StartError`]. The program is as it was, but for an empty file at worst.
pub fn start() -> Result<(), StartError> {
    let text = Text::read();
    let settings = Settings::parse_aloud(text.as_ref().map_or("", Text::as_str));
    let mut path = Path::expand(settings.out);
    if settings.policy.compress {
        path.mark_compressed();
    }
    start_with(&settings, &path, text.as_ref())
}

/// As [`start`], in the file at `path`, which is taken as it is.
///
/// # Errors
/// As [`start`].
pub fn start_to(path: impl AsRef<std::path::Path>) -> Result<(), StartError> {
    let text = Text::read();
    let settings = Settings::parse_aloud(text.as_ref().map_or("", Text::as_str));
    let path = Path::literal(path.as_ref().as_os_str().as_bytes())
        .ok_or(StartError::File("the name is too long or holds a NUL"))?;
    start_with(&settings, &path, text.as_ref())
}

fn start_with(settings: &Settings<'_>, path: &Path, text: Option<&Text>) -> Result<(), StartError> {
    let request = Request {
        path: path.as_c_str(),
        options: text.map_or("", Text::as_str),
        policy: settings.policy,
    };
    Ok(session::start(request)?)
}

/// Ends the trace that runs and closes its file; `None` when none runs.
pub fn stop() -> Option<Summary> {
    let summary = session::stop(EndReason::Stopped)?;
    Some(Summary {
        events: summary.events,
        lost: summary.lost,
        bytes: summary.bytes,
        failure: summary.failure.map(|error| error.text()),
    })
}

/// Whether a trace runs.
pub fn is_running() -> bool {
    session::is_running()
}

/// Whether the variable was read.
static READ: AtomicBool = AtomicBool::new(false);

/// Whether this is a forked child.
static IN_CHILD: AtomicBool = AtomicBool::new(false);

/// Whether a forked child makes a trace of its own: what the last trace's settings said.
static FOLLOW: AtomicBool = AtomicBool::new(false);

/// Called at the first operation of each thread: the first of all begins a trace, if the environment
/// says so, and has the variable watched, if it is there. Allocates nothing, and complains on stderr
/// when it cannot.
pub(crate) fn at_first_use() {
    if READ.swap(true, Ordering::Relaxed) {
        return;
    }
    let Some(text) = Text::read() else { return };
    let settings = Settings::parse_aloud(text.as_str());
    begin(&settings, &text);
    if !IN_CHILD.load(Ordering::Relaxed) {
        watch::begin(text);
    }
}

/// Begins a trace if `settings`, which `text` says, have one made.
pub(crate) fn begin(settings: &Settings<'_>, text: &Text) {
    if !settings.trace {
        return;
    }
    FOLLOW.store(settings.follow, Ordering::Relaxed);
    let mut path = match IN_CHILD.load(Ordering::Relaxed) {
        false => Path::expand(settings.out),
        true => Path::expand_for_child(settings.out),
    };
    if settings.policy.compress {
        path.mark_compressed();
    }
    if let Err(error) = start_with(settings, &path, Some(text)) {
        complain(&path, error);
    }
}

/// In a forked child, before it allocates: whether its first operation is to begin a trace.
pub(crate) fn is_to_follow() -> bool {
    IN_CHILD.store(true, Ordering::Relaxed);
    let follow = FOLLOW.load(Ordering::Relaxed);
    if follow {
        READ.store(false, Ordering::Relaxed);
    }
    follow
}

/// Says why there will be no trace, and what to do; the program goes on without one.
fn complain(path: &Path, error: StartError) {
    let (what, hint) = match error {
        StartError::AlreadyRunning => return,
        StartError::File(why) => (why, "set out= in SLABSCOPE to a file that can be written"),
        StartError::Memory => ("no memory for the recorder", "allow more memory or address space"),
        StartError::Thread(why) => (why, "allow one more thread"),
    };
    say::line(&[path.as_str(), ": ", what, ": no trace is made; ", hint]);
}
