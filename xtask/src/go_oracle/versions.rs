//! Traces of one Go program, by several versions of Go, through Go's newest reader and ours.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::compare;
use super::install::{self, Go, Toolchain};
use crate::command;
use crate::text::grouped;
use crate::workspace::Workspace;

/// Which versions of Go make traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Versions {
    /// The one that reads them.
    Newest,
    /// One of each format, and that.
    All,
}

/// The last of each minor version whose traces are in another format, or made by other code.
const OLDER: [&str; 4] = ["1.22.10", "1.23.9", "1.25.5", "1.26.6"];

/// How long the program runs, in milliseconds: much happens in that time.
const RUN_MS: &str = "250";

/// The same with every allocation in the trace.
const RUN_ALL_MS: &str = "100";

/// Records that every trace must hold, or the comparison would say little.
const RECORDS: [&str; 20] = [
    "CPUSample",
    "GCBegin",
    "GCEnd",
    "GoBlock",
    "GoCreate",
    "GoDestroy",
    "GoStart",
    "GoStop",
    "GoSyscallBegin",
    "GoSyscallEnd",
    "GoUnblock",
    "HeapAlloc",
    "HeapGoal",
    "ProcStart",
    "ProcsChange",
    "STWBegin",
    "UserLog",
    "UserRegionBegin",
    "UserTaskBegin",
    "UserTaskEnd",
];

/// The same for a trace of all allocations.
const ALL_RECORDS: [&str; 5] =
    ["HeapObject", "HeapObjectAlloc", "HeapObjectFree", "SpanAlloc", "GoroutineStackAlloc"];

/// Makes the traces and compares; an error when anything differs.
pub(super) fn run(
    workspace: &Workspace,
    directory: &Path,
    go: &Go,
    slabscope: &Path,
    versions: Versions,
) -> Result<()> {
    let older = if versions == Versions::All { &OLDER[..] } else { &[] };
    println!("\n{:<10} {:<14} {:>11} {:>11}  result", "Go", "trace", "events", "records");
    for version in older {
        let home = directory.join(version);
        let toolchain = Toolchain::install(&home, version)?;
        one(workspace, &home, &toolchain, version, go, slabscope)?;
    }
    one(workspace, directory, go.toolchain(), install::VERSION, go, slabscope)
}

/// All traces of one version.
fn one(
    workspace: &Workspace,
    home: &Path,
    toolchain: &Toolchain,
    version: &str,
    go: &Go,
    slabscope: &Path,
) -> Result<()> {
    let program = home.join("busy");
    toolchain.build(&workspace.root().join("xtask/go/busy"), &program)?;
    let plain = make(&program, home.join("plain.trace"), RUN_MS, "")?;
    let mut expected: Vec<&str> = RECORDS.to_vec();
    if !version.starts_with("1.22.") {
        expected.push("GoSwitch");
    }
    compare(version, "plain", &plain, go, slabscope, &expected)?;
    // The experiment came with Go 1.23.
    if !version.starts_with("1.22.") {
        let all = make(&program, home.join("all.trace"), RUN_ALL_MS, "traceallocfree=1")?;
        expected.extend(ALL_RECORDS);
        compare(version, "allocations", &all, go, slabscope, &expected)?;
    }
    Ok(())
}

fn make(program: &Path, trace: PathBuf, milliseconds: &str, godebug: &str) -> Result<PathBuf> {
    let mut busy = Command::new(program);
    command::run(busy.arg(&trace).arg(milliseconds).env("GODEBUG", godebug))?;
    Ok(trace)
}

fn compare(
    version: &str,
    kind: &str,
    trace: &Path,
    go: &Go,
    slabscope: &Path,
    expected: &[&str],
) -> Result<()> {
    let dump = || {
        let mut dump = Command::new(slabscope);
        dump.arg("dump");
        dump
    };
    let context = || format!("Go {version}, {kind}: {}", trace.display());
    let mut found = BTreeSet::new();
    let (records, has_records) =
        compare::outputs(&mut go.wire(trace), dump().arg("--wire").arg(trace), |line| {
            let word = line.split(|&byte| byte == b' ').next().unwrap_or_default();
            if !found.contains(word) {
                found.insert(word.to_vec());
            }
        })
        .with_context(context)?;
    let mut events = 0;
    let (_, has_events) = compare::outputs(&mut go.dump(trace), dump().arg(trace), |line| {
        events += u64::from(line.starts_with(b"M="));
    })
    .with_context(context)?;
    let result = if has_events { "equal" } else { "equal, to where both fail" };
    let (events, count) = (grouped(events), grouped(records));
    println!("{version:<10} {kind:<14} {events:>11} {count:>11}  {result}");
    let missing = expected.iter().filter(|record| !found.contains(record.as_bytes()));
    let missing: Vec<_> = missing.collect();
    if has_records && !missing.is_empty() {
        bail!("{}: it has no {missing:?}, so little was compared", context());
    }
    if !has_events {
        bail!("{}: Go's reader fails, and so does ours", context());
    }
    fs::remove_file(trace).with_context(|| format!("{}: cannot be removed", trace.display()))
}
