//! The workloads and the ways to record them, and running one.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::command;
use crate::workspace::Workspace;

/// A workload: what the results call it, what the program calls it.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) key: &'static str,
    pub(crate) workload: &'static str,
    /// Threads that do the same at the same time.
    pub(crate) threads: u32,
}

const fn case(key: &'static str, workload: &'static str, threads: u32) -> Case {
    Case { key, workload, threads }
}

/// All that are measured.
pub(crate) const CASES: [Case; 8] = [
    case("churn_cache", "churn-cache", 1),
    case("churn_100k", "churn", 1),
    case("map_btree", "map-btree", 1),
    case("map_hash", "map-hash", 1),
    case("json", "json", 1),
    case("syn", "syn", 1),
    case(ONE_THREAD, "bursts-cache-1", 1),
    case(TWO_THREADS, "bursts-cache-2", 2),
];

/// One thread of those of [`TWO_THREADS`], alone.
pub(crate) const ONE_THREAD: &str = "one_thread";

/// Two threads that share nothing and allocate at the same time, in bursts: between them the thread that
/// writes the trace has a CPU, where there are only two.
pub(crate) const TWO_THREADS: &str = "two_threads";

/// A way to record.
#[derive(Debug)]
pub(crate) struct Mode {
    pub(crate) name: &'static str,
    /// Added to the variable `SLABSCOPE`.
    options: &'static str,
    /// How the program is built.
    pub(crate) build: Build,
    /// The mode of the same build without stacks, where this has them.
    pub(crate) without_stacks: Option<&'static str>,
    /// Whether events may be missing in the trace.
    pub(crate) may_lose: bool,
}

/// A mode of a plain build that records everything, without stacks.
const PLAIN: Mode =
    Mode { name: "none", options: "", build: Build::Plain, without_stacks: None, may_lose: false };

/// How a program is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Build {
    /// As people do for release: stacks are walked by unwind tables, but for the standard library's part.
    Plain,
    /// With a frame pointer in each function of Rust.
    FramePointers,
    /// As `Plain`, with what compresses traces.
    Zstd,
}

/// All that are measured, the default first.
pub(crate) const MODES: [Mode; 6] = [
    PLAIN,
    Mode { name: "tables_16", options: "stacks=16", without_stacks: Some("none"), ..PLAIN },
    Mode { name: "fp_none", build: Build::FramePointers, ..PLAIN },
    Mode {
        name: "fp_16",
        options: "stacks=16",
        build: Build::FramePointers,
        without_stacks: Some("fp_none"),
        ..PLAIN
    },
    Mode { name: "zstd", options: "compress=zstd", build: Build::Zstd, ..PLAIN },
    Mode { name: "drop", options: "overflow=drop", may_lose: true, ..PLAIN },
];

/// The programs that run the workloads on our heap, those that the modes need.
#[derive(Debug)]
pub(crate) struct Programs(Vec<(Build, PathBuf)>);

impl Programs {
    /// Builds them.
    pub(crate) fn build(workspace: &Workspace, modes: &[&Mode]) -> Result<Programs> {
        let mut programs = Programs(Vec::new());
        for mode in modes {
            if programs.find(mode.build).is_none() {
                programs.0.push((mode.build, mode.build.program(workspace)?));
            }
        }
        Ok(programs)
    }

    /// The one that a mode needs.
    pub(crate) fn of(&self, mode: &Mode) -> Result<&Path> {
        self.find(mode.build).with_context(|| format!("no program for {}", mode.name))
    }

    fn find(&self, build: Build) -> Option<&Path> {
        self.0.iter().find(|(of, _)| *of == build).map(|(_, program)| program.as_path())
    }
}

impl Run {
    /// Nanoseconds that what is measured took.
    pub(crate) fn time(&self) -> f64 {
        (if self.each > 0 { self.each } else { self.nanos }) as f64
    }
}

impl Build {
    fn program(self, workspace: &Workspace) -> Result<PathBuf> {
        match self {
            Build::Plain => build_program(workspace, PROGRAM, "recorder"),
            Build::FramePointers => build_with_frame_pointers(workspace, PROGRAM, "recorder"),
            Build::Zstd => {
                let target = workspace.target().join("bench-zstd");
                build_beside(workspace.cargo(), &target, PROGRAM, "zstd")
            }
        }
    }
}

const PROGRAM: &str = "alloc-slabscope";

/// What one run of a workload told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) checksum: u64,
    pub(crate) nanos: u64,
    /// What each of its threads took without pauses, in nanoseconds; 0 where they do not say.
    pub(crate) each: u64,
    pub(crate) events: u64,
    pub(crate) lost: u64,
    pub(crate) bytes: u64,
    /// How long the trace's end took.
    pub(crate) end_nanos: u64,
}

/// Builds a program that runs the workloads.
pub(crate) fn build_program(
    workspace: &Workspace,
    program: &str,
    features: &str,
) -> Result<PathBuf> {
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--quiet", "--release", "--package", "slabscope-benches"]);
    cargo.args(["--bin", program, "--no-default-features", "--features", features]);
    command::run(&mut cargo)?;
    Ok(workspace.target().join("release").join(program))
}

/// As [`build_program`], with a frame pointer in each function of Rust; beside the plain ones. Crates that
/// ask for a newer compiler are built by ours.
pub(crate) fn build_with_frame_pointers(
    workspace: &Workspace,
    program: &str,
    features: &str,
) -> Result<PathBuf> {
    let target = workspace.target().join("bench-frames");
    let mut cargo = workspace.cargo();
    cargo.env("RUSTFLAGS", "-C force-frame-pointers=yes");
    build_beside(cargo, &target, program, features)
}

/// Builds a program in another directory than the plain ones.
fn build_beside(
    mut cargo: Command,
    target: &Path,
    program: &str,
    features: &str,
) -> Result<PathBuf> {
    cargo.arg("build").arg("--target-dir").arg(target);
    cargo.args(["--quiet", "--release", "--ignore-rust-version"]);
    cargo.args(["--package", "slabscope-benches", "--bin", program]);
    cargo.args(["--no-default-features", "--features", features]);
    command::run(&mut cargo)?;
    Ok(target.join("release").join(program))
}

/// Runs a workload without a trace.
pub(crate) fn untraced(program: &Path, case: &Case) -> Result<Run> {
    run(Command::new(program).arg(case.workload).env_remove("SLABSCOPE"))
}

/// Runs a workload with a trace, which is removed afterwards.
pub(crate) fn traced(program: &Path, directory: &Path, case: &Case, mode: &Mode) -> Result<Run> {
    // A name that needs no other end, for where the trace is compressed.
    let trace = directory.join("measured.trace.zst");
    let variable = format!("out={},{}", trace.display(), mode.options);
    let run =
        run(Command::new(program).args([case.workload, "recorded"]).env("SLABSCOPE", variable))?;
    std::fs::remove_file(&trace).with_context(|| format!("there is no {}", trace.display()))?;
    Ok(run)
}

/// Runs a program that prints what [`Run`] holds; the last line that looks like it counts.
pub(crate) fn run(command: &mut Command) -> Result<Run> {
    let text = String::from_utf8(command::output(command)?)?;
    let found = text.lines().rev().find_map(parse);
    found.with_context(|| format!("{} said {text:?}", command::line(command)))
}

fn parse(line: &str) -> Option<Run> {
    let numbers: Option<Vec<u64>> = line.split_whitespace().map(|n| n.parse().ok()).collect();
    let [checksum, nanos, _peak, each, events, lost, bytes, end_nanos] =
        numbers?.try_into().ok()?;
    Some(Run { checksum, nanos, each, events, lost, bytes, end_nanos })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_eight_numbers() {
        let run = parse("1 2 3 4 5 6 7 8").unwrap();
        assert_eq!((run.checksum, run.nanos, run.each), (1, 2, 4));
        assert_eq!((run.events, run.lost, run.bytes, run.end_nanos), (5, 6, 7, 8));
        assert_eq!(parse("1 2 3 4 5 6 7"), None);
        assert_eq!(parse("heaptrack stats:"), None);
    }
}
