//! A file of single runs, so that a comparison can be made in pieces.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result};

use crate::bench::measure::Series;

/// One run: a line of the file.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    workload: String,
    allocator: String,
    nanos: u64,
    peak: u64,
}

/// Runs made before, and where new ones are noted.
#[derive(Debug, Default)]
pub(crate) struct RunLog {
    runs: Vec<Run>,
    file: Option<File>,
}

impl RunLog {
    /// Goes on with the file at `path`, which need not be there yet.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let cannot = || format!("cannot go on with {}", path.display());
        let file = OpenOptions::new().append(true).create(true).open(path).with_context(cannot)?;
        let text = std::fs::read_to_string(path).with_context(cannot)?;
        let runs = parse(&text).with_context(cannot)?;
        Ok(RunLog { runs, file: Some(file) })
    }

    /// What one workload took on one allocator before.
    pub(crate) fn series(&self, workload: &str, allocator: &str) -> Series {
        let mut series = Series::default();
        for run in &self.runs {
            if run.workload == workload && run.allocator == allocator {
                series.add(run.nanos, run.peak);
            }
        }
        series
    }

    /// Notes a run.
    pub(crate) fn add(&mut self, workload: &str, name: &str, nanos: u64, peak: u64) -> Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        writeln!(file, "{workload} {name} {nanos} {peak}").context("cannot note a run")
    }
}

fn parse(text: &str) -> Result<Vec<Run>> {
    text.lines().map(|line| run(line).with_context(|| format!("no run: {line:?}"))).collect()
}

fn run(line: &str) -> Option<Run> {
    let mut words = line.split_whitespace();
    let (workload, allocator) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (nanos, peak) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    words.next().is_none().then_some(Run { workload, allocator, nanos, peak })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_an_earlier_piece_count() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("runs");
        for nanos in [5, 9] {
            let mut log = RunLog::open(&path).expect("a file");
            log.add("pair", "ours", nanos, 7).expect("a line");
            log.add("pair", "theirs", 1, 1).expect("a line");
        }
        let series = RunLog::open(&path).expect("a file").series("pair", "ours");
        assert_eq!((series.len(), series.time(), series.peak()), (2, 7.0, 7.0));
    }

    #[test]
    fn a_broken_line_is_an_error() {
        for line in ["pair ours 5", "pair ours 5 x", "pair ours 5 7 9"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
