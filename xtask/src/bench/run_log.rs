//! A file of single runs, so that a comparison can be made in pieces.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::json;

use crate::bench::measure::Series;

/// One run, a line of the file: workload, allocator, nanoseconds, peak of resident memory in bytes.
type Run = (String, String, u64, u64);

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
        for (on, by, nanos, peak) in &self.runs {
            if on == workload && by == allocator {
                series.add(*nanos, *peak);
            }
        }
        series
    }

    /// Notes a run.
    pub(crate) fn add(&mut self, workload: &str, name: &str, nanos: u64, peak: u64) -> Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let run = json!([workload, name, nanos, peak]);
        writeln!(file, "{run}").context("cannot note a run")
    }
}

fn parse(text: &str) -> Result<Vec<Run>> {
    let run = |line| serde_json::from_str(line).with_context(|| format!("no run: {line}"));
    text.lines().map(run).collect()
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
        for line in [r#"["pair","ours",5]"#, r#"["pair","ours",5,"x"]"#, r#"["pair","ours",5"#] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
