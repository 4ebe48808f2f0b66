//! What the index beside a trace is worth: the same question again, and one about a part.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{median, time};

/// The index that `slabscope` leaves beside `trace`.
fn beside(trace: &Path) -> PathBuf {
    let mut path = trace.as_os_str().to_owned();
    path.push(".slabscope-index");
    PathBuf::from(path)
}

/// Measures it; `seconds` is how long the trace is.
pub(super) fn measure(
    slabscope: &Path,
    trace: &Path,
    seconds: f64,
    rounds: u32,
    results: &mut Value,
) -> Result<()> {
    let index = beside(trace);
    let report = || {
        let mut command = Command::new(slabscope);
        command.arg("report").arg(trace);
        command
    };
    let first = median(rounds, || {
        if index.exists() {
            fs::remove_file(&index)?;
        }
        time(&mut report())
    })?;
    let bytes = fs::metadata(&index).context("report left no index")?.len();
    let second = median(rounds, || time(&mut report()))?;
    // A part that begins and ends within parts of the index.
    let [from, to] = [0.37, 0.63].map(|part| format!("{:.6}s", seconds * part));
    let part = median(rounds, || time(report().args(["--from", &from, "--to", &to])))?;
    println!(
        "report that leaves an index: {first:.2} s; again: {second:.3} s; a part: {part:.3} s"
    );
    println!("the index: {} KiB", bytes >> 10);
    results["first_report_s"] = json!(first);
    results["second_report_s"] = json!(second);
    results["window_report_s"] = json!(part);
    results["index_bytes"] = json!(bytes);
    fs::remove_file(&index).with_context(|| format!("{}: cannot be removed", index.display()))
}
