//! `cargo xtask ci`: everything that must hold and that the tests do not say.

use std::time::Instant;

use anyhow::{Context, Result};

use crate::go_oracle::{self, Versions};
use crate::workspace::Workspace;
use crate::{causality, command, demo, firefox, fuzz, kill, tidy, types};

/// A check: what it is called, and how it is made.
type Check = (&'static str, fn(&Workspace) -> Result<()>);

/// Programs that are killed; the tests themselves kill a dozen.
const KILLS: u64 = 50;

/// Events whose order is checked; a billion take some ten minutes.
const EVENTS: u64 = 30_000_000;

/// Traces that one program makes.
const TOGGLES: u64 = 1000;

/// For each target; the tests go through the corpus.
const FUZZ_SECONDS: u32 = 20;

/// One and the same, so that a commit is tried in much the same way each time; only how far it comes in
/// that time differs. `cargo xtask fuzz` goes new ways.
const FUZZ_SEED: u32 = 1;

/// In the order of their cost.
const CHECKS: [Check; 15] = [
    ("format", format),
    ("tidy", tidy::run),
    ("lints", lints),
    ("documentation", documentation),
    ("compression", compression),
    ("heap alone", heap_alone),
    ("toggle", toggle),
    ("causality", |workspace| causality::run(workspace, EVENTS)),
    ("kill", |workspace| kill::run(workspace, KILLS)),
    ("fuzz", |workspace| fuzz::run(workspace, FUZZ_SECONDS, None, Some(FUZZ_SEED))),
    ("demo", demo::run),
    ("types", types::run),
    ("firefox", firefox::run),
    ("conformance", |workspace| go_oracle::conformance(workspace, Versions::Newest)),
    ("go oracle", |workspace| go_oracle::run(workspace, Vec::new())),
];

/// Makes all checks; the first that fails ends it.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut times = Vec::new();
    for (name, check) in CHECKS {
        eprintln!("\n==> {name}");
        let begun = Instant::now();
        check(workspace).with_context(|| format!("the check \"{name}\" failed"))?;
        times.push((name, begun.elapsed()));
    }
    println!("\nall checks hold:");
    for (name, time) in times {
        println!("  {name:<14} {:>7.1} s", time.as_secs_f64());
    }
    Ok(())
}

fn format(workspace: &Workspace) -> Result<()> {
    command::run(workspace.cargo().args(["fmt", "--all", "--check"]))
}

/// Of the benchmarks too, so that they at least compile.
fn lints(workspace: &Workspace) -> Result<()> {
    command::run(workspace.cargo().args([
        "clippy",
        "--quiet",
        "--workspace",
        "--all-targets",
        "--",
        "--deny=warnings",
    ]))
}

/// What the tests leave out, since it needs a C compiler.
fn compression(workspace: &Workspace) -> Result<()> {
    let mut test = workspace.cargo();
    test.args(["test", "--quiet", "--package", "slabscope", "--features", "zstd"]);
    command::run(test.args(["--test", "compressed"]))
}

/// Traces that begin and end in one program while its threads allocate.
fn toggle(workspace: &Workspace) -> Result<()> {
    let mut test = workspace.cargo();
    test.args(["test", "--quiet", "--package", "slabscope", "--test", "hazard_toggle", "--"]);
    test.args(["--nocapture", "--exact", "a_trace_can_begin_and_end_many_times"]);
    command::run(test.env("SLABSCOPE_TOGGLES", TOGGLES.to_string()))
}

/// The allocator without the recorder: it compiles without a warning, and the heap is whole.
fn heap_alone(workspace: &Workspace) -> Result<()> {
    let package = ["--quiet", "--package", "slabscope", "--no-default-features"];
    let mut clippy = workspace.cargo();
    clippy.arg("clippy").args(package).args(["--lib", "--", "--deny=warnings"]);
    command::run(&mut clippy)?;
    let mut test = workspace.cargo();
    test.arg("test").args(package).args(["--lib", "--test", "heap_alone"]);
    command::run(&mut test)
}

fn documentation(workspace: &Workspace) -> Result<()> {
    command::run(
        workspace
            .cargo()
            .args(["doc", "--quiet", "--workspace", "--no-deps"])
            .env("RUSTDOCFLAGS", "--deny=warnings"),
    )
}
