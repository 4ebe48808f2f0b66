//! The live file beside a trace whose program did not end it: finishing the trace from it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use slabscope_recover::{Recovered, needed_len, process, recover};
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
            Ok(bytes) => {
                let running = process(&bytes).filter(|&pid| maps(pid, &path));
                Some(Ok(Live { path, bytes, running }))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(Err(error)),
        }
    }

    /// What makes `trace` whole; `None` if it is.
    pub(crate) fn recover(
        &self,
        trace: &[u8],
    ) -> Result<Option<Recovered>, slabscope_recover::Error> {
        recover(trace, &self.bytes)
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

/// `bytes`, the contents of the trace at `path`, made whole if the program left it unfinished. What
/// is done is said on standard error; a live file that is of no use leaves the trace as it is.
pub(crate) fn made_whole(path: &Path, mut bytes: Vec<u8>) -> Vec<u8> {
    let live = match Live::beside(path) {
        None => return bytes,
        Some(Ok(live)) => live,
        Some(Err(error)) => {
            say(&about(path, format_args!("its live file cannot be read: {error}.")));
            return bytes;
        }
    };
    match live.recover(&bytes) {
        Ok(None) => bytes,
        Ok(Some(Recovered { keep, tail, events, left_out })) => {
            let why = match live.running {
                Some(pid) => format!("process {pid} still runs: this is its trace so far"),
                None => "the program did not end its trace".to_owned(),
            };
            let advice = match live.running {
                Some(_) => String::new(),
                None => ". 'slabscope recover' makes it so for good".to_owned(),
            };
            if left_out > 0 {
                say(&about(path, left_out_text(left_out)));
            }
            let events = crate::text::count(events);
            say(&about(path, format_args!("{why}; {events} events come from {SUFFIX}{advice}.")));
            bytes.truncate(keep);
            bytes.extend(tail);
            bytes
        }
        Err(error) => {
            say(&about(&live.path, format_args!("{error}. The trace is read without it.")));
            bytes
        }
    }
}

/// As much of the file as is needed: the rest is room that was never used.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    file.by_ref().take(START).read_to_end(&mut bytes)?;
    if let Some(rest) = needed_len(&bytes).and_then(|needed| needed.checked_sub(START)) {
        file.take(rest).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
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
