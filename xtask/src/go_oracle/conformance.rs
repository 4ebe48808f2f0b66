//! Go's own tests of its reader, and the inputs its fuzzer found, through ours.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Context, Result, bail};

use super::install::Go;
use crate::command;
use crate::workspace::Workspace;

/// What Go says is wrong with its tests, and how we say the same.
const CAUSES: [(&str, &str); 4] = [
    ("expected a proc but didn't have one", "needs a processor"),
    ("expected frequency or clock snapshot event, got", "in a batch of others"),
    ("invalid status for proc", "there is no status"),
    ("found invalid uvarint", "is cut off or broken"),
];

/// How we say that a trace is in a format before that of Go 1.22.
const TOO_OLD: &str = "only the formats since Go 1.22 can be read";

/// Where Go's tests have traces in formats before that of Go 1.22.
const OLD_TRACES: &str = "src/internal/trace/internal/tracev1/testdata";

/// Compares events and verdicts; an error when any differs.
pub(super) fn run(
    workspace: &Workspace,
    directory: &Path,
    go: &Go,
    slabscope: &Path,
) -> Result<()> {
    let program = directory.join("conformance");
    go.toolchain().build_inside(&workspace.root().join("xtask/go/conformance.go"), &program)?;
    let inputs = directory.join("inputs");
    fs::create_dir_all(&inputs)?;
    let testdata = go.toolchain().root().join("src/internal/trace/testdata");
    let verdicts = command::output(Command::new(&program).arg(&testdata).arg(&inputs))?;
    let verdicts = String::from_utf8(verdicts)?;
    let mut counts = HashMap::new();
    let mut differences = Vec::new();
    for line in verdicts.lines() {
        let (name, verdict) = line.split_once('\t').context("a line without a verdict")?;
        let group = if name.starts_with("fuzz-") { "fuzz" } else { "test" };
        match compare(slabscope, &inputs, name, verdict) {
            Ok(()) => *counts.entry((group, verdict == "ok")).or_insert(0) += 1,
            Err(error) => differences.push(format!("{name}: {error:#}")),
        }
    }
    let old = old_traces(&go.toolchain().root().join(OLD_TRACES), slabscope, &mut differences)?;
    let count = |key| counts.get(&key).copied().unwrap_or(0);
    println!("Go's tests of its reader, the same through ours:");
    println!("  {:>3} are read to the end, event for event", count(("test", true)));
    println!("  {:>3} fail, for the same cause", count(("test", false)));
    println!("  {:>3} inputs of the fuzzer are read to the end", count(("fuzz", true)));
    println!("  {:>3} inputs of the fuzzer fail, for the same cause", count(("fuzz", false)));
    println!("  {old:>3} traces of Go 1.11 to 1.21 are refused by name");
    if !differences.is_empty() {
        bail!("{} inputs differ:\n{}", differences.len(), differences.join("\n"));
    }
    Ok(())
}

/// Compares on one input.
fn compare(slabscope: &Path, inputs: &Path, name: &str, verdict: &str) -> Result<()> {
    let trace = inputs.join(format!("{name}.trace"));
    let ours = dump(slabscope, &trace)?;
    let said = String::from_utf8_lossy(&ours.stderr);
    if said.contains(TOO_OLD) && fs::read(&trace)?.starts_with(b"go 1.1") {
        return Ok(());
    }
    let theirs = fs::read(inputs.join(format!("{name}.events")))?;
    if ours.stdout != theirs {
        bail!("the events differ");
    }
    match (ours.status.code(), verdict) {
        (Some(0), "ok") => Ok(()),
        (Some(1), "ok") => bail!("Go reads it to the end, we say: {said}"),
        (Some(1), theirs) => same_cause(theirs, &said),
        (Some(0), theirs) => bail!("we read it to the end, Go says: {theirs}"),
        (code, _) => bail!("we end with {code:?}: {said}"),
    }
}

fn same_cause(theirs: &str, ours: &str) -> Result<()> {
    let cause = CAUSES.iter().find(|(cause, _)| theirs.contains(cause));
    let (_, expected) = cause.with_context(|| format!("a new cause: {theirs} / {ours}"))?;
    if !ours.contains(expected) {
        bail!("Go says: {theirs}; we say: {ours}");
    }
    Ok(())
}

fn dump(slabscope: &Path, trace: &Path) -> Result<Output> {
    let output = Command::new(slabscope).arg("dump").arg(trace).output();
    output.with_context(|| format!("cannot start: {}", slabscope.display()))
}

/// Tries the traces in formats that are not read; returns how many there are.
fn old_traces(directory: &Path, slabscope: &Path, differences: &mut Vec<String>) -> Result<usize> {
    let mut count = 0;
    for entry in fs::read_dir(directory)
        .with_context(|| format!("{}: cannot be listed", directory.display()))?
    {
        let trace = entry?.path();
        let ours = dump(slabscope, &trace)?;
        let said = String::from_utf8_lossy(&ours.stderr);
        let version = fs::read(&trace)?.get(3..7).map(<[u8]>::to_vec).unwrap_or_default();
        let version = format!("Go {}", String::from_utf8_lossy(&version));
        count += 1;
        if ours.status.success() || !said.contains(TOO_OLD) || !said.contains(&version) {
            differences.push(format!("{}: {said}", trace.display()));
        }
    }
    if count == 0 {
        bail!("{}: there are no traces", directory.display());
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_the_same_or_told() {
        let theirs = "expected a proc but didn't have one";
        same_cause(theirs, "offset 5: GoCreate: needs a processor").unwrap();
        let error = same_cause(theirs, "offset 5: GoCreate: needs a goroutine").unwrap_err();
        assert!(error.to_string().starts_with("Go says: expected"), "{error}");
        assert!(same_cause("something else", "needs a processor").is_err());
    }
}
