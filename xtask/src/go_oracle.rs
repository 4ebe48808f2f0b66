//! `cargo xtask go-oracle`: Go's own reader, and ours, on the same traces.
//!
//! For the demo's trace, each trace the integration tests make and a trace of a real Go program:
//! every event as text, line for line; how often each of the nine events of the experiment
//! happened, by Go's lines, by our reader and by the closing counts; and every byte of side data.
//! One trace is there a second time, with its names in it.

mod compare;
mod conformance;
mod install;
mod ours;
mod pprof;
mod symbolized;
mod table;
mod ties;
mod versions;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;
use crate::{command, demo};
use compare::Counts;
pub(crate) use install::Go;
use table::Table;
pub(crate) use versions::Versions;

/// A trace that a Go program wrote.
const GO_TRACE: &str = "crates/slabscope-trace/tests/data/go1.27-allocfree-small.trace";

/// Names the directory into which the integration tests write their traces.
const TRACES_VARIABLE: &str = "SLABSCOPE_TEST_TRACES";

/// Compares on Go's own tests and on traces of a program of Go, by `versions` of it.
pub(crate) fn conformance(workspace: &Workspace, versions: Versions) -> Result<()> {
    let directory = directory(workspace);
    let go = Go::install(&directory, workspace)?;
    let slabscope = workspace.build("slabscope-cli", "slabscope")?;
    conformance::run(workspace, &directory, &go, &slabscope)?;
    ties::run(&directory, &go, &slabscope)?;
    pprof::run(workspace, &go)?;
    versions::run(workspace, &directory, &go, &slabscope, versions)
}

/// Where Go and all that it makes goes.
pub(crate) fn directory(workspace: &Workspace) -> PathBuf {
    workspace.target().join("go-oracle")
}

/// Compares on `traces`, or on all that there are; an error when anything differs.
pub(crate) fn run(workspace: &Workspace, mut traces: Vec<PathBuf>) -> Result<()> {
    let directory = directory(workspace);
    let go = Go::install(&directory, workspace)?;
    let slabscope = workspace.build("slabscope-cli", "slabscope")?;
    if traces.is_empty() {
        traces.push(workspace.root().join(GO_TRACE));
        let tests = test_traces(workspace, &directory.join("traces"))?;
        let symbolized = symbolized::make(&go, &slabscope, &tests, &directory)?;
        traces.extend(tests);
        traces.push(symbolized);
        traces.push(demo::make_trace(workspace)?);
    }
    let mut table = Table::new();
    for trace in &traces {
        eprintln!("comparing {}", trace.display());
        table.add(name(trace), compare_one(&go, &slabscope, trace));
    }
    print!("{}", table.text());
    if table.failures() > 0 {
        bail!("{} of {} traces differ", table.failures(), traces.len());
    }
    println!(
        "{} traces: Go's reader and ours agree on every event and all side data",
        traces.len()
    );
    Ok(())
}

/// What two readers found alike in a trace.
#[derive(Clone, Copy, Debug)]
struct Agreed {
    lines: u64,
    counts: Counts,
    side_rows: u64,
    seconds: f64,
}

fn compare_one(go: &Go, slabscope: &Path, trace: &Path) -> Result<Agreed> {
    let begun = std::time::Instant::now();
    let (lines, theirs) = compare::dumps(go, slabscope, trace)?;
    let ours = ours::read(trace)?;
    if theirs != ours.counts {
        bail!("Go counts {theirs:?} by kind, we count {:?}", ours.counts);
    }
    if let Some(in_file) = ours.closing
        && in_file != theirs
    {
        bail!("the closing counts say {in_file:?} by kind, Go counts {theirs:?}");
    }
    let side_rows = compare::side_data(go, trace, &ours.side_data)?;
    Ok(Agreed { lines, counts: theirs, side_rows, seconds: begun.elapsed().as_secs_f64() })
}

/// Runs the integration tests and returns the traces they made.
fn test_traces(workspace: &Workspace, directory: &Path) -> Result<Vec<PathBuf>> {
    let display = directory.display();
    if directory.exists() {
        fs::remove_dir_all(directory).with_context(|| format!("{display}: cannot be emptied"))?;
    }
    fs::create_dir_all(directory).with_context(|| format!("{display}: cannot be made"))?;
    let mut cargo = workspace.cargo();
    cargo.args(["test", "--quiet", "--package", "slabscope"]).env(TRACES_VARIABLE, directory);
    command::run(&mut cargo)?;
    let mut traces = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        // A trace that was refused leaves an empty file, which is none.
        let is_trace = path.extension().is_some_and(|extension| extension == "trace");
        if is_trace && fs::metadata(&path)?.len() > 0 {
            traces.push(path);
        }
    }
    if traces.is_empty() {
        bail!("{display}: the integration tests wrote no trace");
    }
    traces.sort();
    Ok(traces)
}

fn name(trace: &Path) -> String {
    trace.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
