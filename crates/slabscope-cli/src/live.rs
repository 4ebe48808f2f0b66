//! The live file beside a trace whose program did not end it: finishing the trace from it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use slabscope_recover::{Recovered, needed_len, process, read_running, recover};
use slabscope_wire::live::SUFFIX;

use crate::failure::{about, say};

/// Enough of a live file to tell how much of it is needed, in bytes.
const START: u64 = 4096;

/// A live file that was read.
pub(crate) struct Live {
    pub(crate) path: PathBuf,
    bytes: Vec<u8>,
    /// The program, if it still runs.
    pub(crate) running: Option<u64>,
}

impl Live {
    /// The one beside `trace`; `None` if there is none.
    pub(crate) fn beside(trace: &Path) -> Option<io::Result<Live>> {
        let path = beside(trace);
        match read(&path) {
            Ok((bytes, running)) => Some(Ok(Live { path, bytes, running })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(Err(error)),
        }
    }

    /// What makes the trace of so many bytes whole; `None` if it is.
    pub(crate) fn recover(
        &self,
        trace_len: u64,
    ) -> Result<Option<Recovered>, slabscope_recover::Error> {
        recover(trace_len, &self.bytes)
    }
}

/// Whether there is one beside the trace at `path`.
pub(crate) fn is_beside(path: &Path) -> bool {
    beside(path).exists()
}

fn beside(trace: &Path) -> PathBuf {
    let mut path = trace.as_os_str().to_owned();
    path.push(SUFFIX);
    PathBuf::from(path)
}

/// What the live file beside the trace at `path` has of it, to be asked before the trace is looked at: that
/// may have more by then, and never less. One that cannot be read is none, which is said on standard error.
pub(crate) fn ending(path: &Path) -> Option<Live> {
    match Live::beside(path)? {
        Ok(live) => Some(live),
        Err(error) => {
            say(&about(path, format_args!("its live file cannot be read: {error}.")));
            None
        }
    }
}

impl Live {
    /// What makes the trace at `path`, of so many bytes, whole. What is done is said on standard error; a
    /// live file that is of no use leaves the trace as it is.
    pub(crate) fn end(&self, path: &Path, trace_len: u64) -> Option<Recovered> {
        let recovered = match self.recover(trace_len) {
            Ok(recovered) => recovered?,
            Err(error) => {
                say(&about(&self.path, format_args!("{error}. The trace is read without it.")));
                return None;
            }
        };
        if recovered.left_out > 0 {
            say(&about(path, left_out_text(recovered.left_out)));
        }
        let (why, advice) = match self.running {
            Some(pid) => (format!("process {pid} still runs: this is its trace so far"), ""),
            None => (
                "the program did not end its trace".to_owned(),
                ". 'slabscope recover' makes it so for good",
            ),
        };
        let events = crate::text::count(recovered.events);
        say(&about(path, format_args!("{why}; {events} events come from {SUFFIX}{advice}.")));
        Some(recovered)
    }
}

/// As much of the file as is needed, since the rest is room that was never used; and the process that
/// writes it, if one does.
fn read(path: &Path) -> io::Result<(Vec<u8>, Option<u64>)> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    file.by_ref().take(START).read_to_end(&mut bytes)?;
    let running = process(&bytes).filter(|&pid| maps(pid, path));
    if running.is_some()
        && let Some(bytes) = read_running(|at, to| fill(&mut file, at, to))?
    {
        return Ok((bytes, running));
    }
    if let Some(needed) = needed_len(&bytes).filter(|&needed| needed > START) {
        bytes.clear();
        file.rewind()?;
        file.take(needed).read_to_end(&mut bytes)?;
    }
    Ok((bytes, running))
}

/// Reads from a place on; what lies behind the end stays as it is.
fn fill(file: &mut File, at: u64, mut to: &mut [u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    while !to.is_empty() {
        let len = file.read(to)?;
        if len == 0 {
            break;
        }
        to = &mut to[len..];
    }
    Ok(())
}

/// Whether a process on this machine has the file mapped.
fn maps(pid: u64, path: &Path) -> bool {
    let Ok(path) = path.canonicalize() else { return false };
    let path = path.to_string_lossy();
    let maps = std::fs::read(format!("/proc/{pid}/maps"));
    maps.is_ok_and(|maps| {
        let maps = String::from_utf8_lossy(&maps);
        maps.lines().any(|line| line.ends_with(&*path))
    })
}

/// What is said when the recovered trace lacks rows of tables.
pub(crate) fn left_out_text(rows: u64) -> String {
    let rows = crate::text::count(rows);
    format!("its live file was harmed: {rows} rows of its tables fit no batch and are left out.")
}
