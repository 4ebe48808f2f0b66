//! Our report against `heaptrack_print`, both of a run of the same program.
//!
//! The program is one of the allocators' benchmark: on our heap with a trace, and on the C library's
//! under heaptrack. What counts is the time for each allocation that was recorded.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{median, time};
use crate::command;
use crate::workspace::Workspace;

/// Parses and writes JSON, which allocates much. Not `syn`: the interpreter of heaptrack 1.4 runs out of memory
/// in the midst of it, why is not known, and leaves a file of a tenth.
const WORKLOAD: &str = "json";

/// Both must have recorded as many allocations, up to this part of them: the programs differ in their
/// allocators only.
const DIFFERENCE_MAX: f64 = 0.01;

/// How many times as fast ours is; `None` where heaptrack is not installed.
pub(super) fn compare(workspace: &Workspace, directory: &Path, rounds: u32) -> Result<Option<f64>> {
    if Command::new("heaptrack_print").arg("--version").output().is_err() {
        println!("heaptrack is not installed: no comparison with it");
        return Ok(None);
    }
    let (ours, recorded) = ours(workspace, directory, rounds)?;
    let (theirs, counted) = theirs(workspace, directory, rounds)?;
    if (recorded - counted).abs() > recorded * DIFFERENCE_MAX {
        bail!("{WORKLOAD}: we recorded {recorded} allocations, heaptrack has {counted}");
    }
    println!("{WORKLOAD}: {recorded} allocations, {counted} by heaptrack");
    println!("an allocation: {ours:.1} ns by report, {theirs:.1} ns by heaptrack_print");
    Ok(Some(theirs / ours))
}

/// Nanoseconds for each allocation, and how many there are.
fn ours(workspace: &Workspace, directory: &Path, rounds: u32) -> Result<(f64, f64)> {
    let program = workspace.build("slabscope-benches", "alloc-slabscope")?;
    let slabscope = workspace.build("slabscope-cli", "slabscope")?;
    let trace = directory.join("program.trace");
    let options = format!("traceallocfree=1,out={}", trace.display());
    command::output(Command::new(program).arg(WORKLOAD).env("SLABSCOPE", options))?;
    // All of the trace is read each time, as heaptrack_print reads all of its file.
    let report = || super::report(&slabscope, &trace);
    let json = command::output(report().arg("--json"))?;
    let json: Value = serde_json::from_slice(&json)?;
    let allocated = json["report"]["objects"]["allocated"]["objects"].as_f64();
    let seconds = median(rounds, || time(&mut report()))?;
    let allocated = allocated.context("the report has no count of allocations")?;
    Ok((seconds * 1e9 / allocated, allocated))
}

fn theirs(workspace: &Workspace, directory: &Path, rounds: u32) -> Result<(f64, f64)> {
    let program = workspace.build("slabscope-benches", "alloc-glibc")?;
    let data = directory.join("heaptrack");
    let mut recorded = Command::new("heaptrack");
    recorded.arg("--output").arg(&data).arg(program).arg(WORKLOAD);
    command::output(&mut recorded)?;
    let found = ["zst", "gz"].map(|form| data.with_extension(form));
    let data = found.iter().find(|path| path.exists()).context("heaptrack wrote nothing")?;
    let said = command::output(Command::new("heaptrack_print").arg(data))?;
    let allocated = allocations(&String::from_utf8_lossy(&said))
        .context("heaptrack_print does not count allocations")?;
    let seconds = median(rounds, || time(Command::new("heaptrack_print").arg(data)))?;
    Ok((seconds * 1e9 / allocated as f64, allocated as f64))
}

/// How many allocations heaptrack counted, out of its summary.
fn allocations(said: &str) -> Option<u64> {
    let count = said.lines().find_map(|line| line.strip_prefix("calls to allocation functions: "));
    let digits: String = count?.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_found_in_the_summary() {
        let said = "total runtime: 1.2s.\ncalls to allocation functions: 1234 (1028/s)\n";
        assert_eq!(allocations(said), Some(1234));
        assert_eq!(allocations("nothing"), None);
    }
}
