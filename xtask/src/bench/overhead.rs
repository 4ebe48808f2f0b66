//! `cargo xtask bench overhead`: what the recorder costs that is compiled in and off, in instructions.
//!
//! The same workloads run under valgrind on the allocator with the recorder and without it. Counts of
//! instructions are the same in every run, as no time is: one run of each is enough.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::command;
use crate::text::grouped;
use crate::workspace::Workspace;

/// Short ones: valgrind takes some fifty times as long.
const WORKLOADS: [&str; 5] = ["pair-64", "pair-64k", "batch-random", "churn-cache", "map-btree"];

/// What to run.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Only workloads whose name contains this; may be given several times
    #[arg(long, value_name = "NAME")]
    workload: Vec<String>,
    /// Fail if the recorder costs more than so many percent anywhere
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0)]
    most: f64,
}

/// Runs it.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let with = build(workspace, "with", "recorder")?;
    let without = build(workspace, "without", "")?;
    let wanted = |name: &str| {
        options.workload.is_empty() || options.workload.iter().any(|part| name.contains(part))
    };
    println!("Instructions, with the recorder compiled in and off, and without it.\n");
    println!("{:<14}{:>16}{:>16}{:>9}", "workload", "with", "without", "more");
    for name in WORKLOADS.into_iter().filter(|name| wanted(name)) {
        let (with, without) = (instructions(&with, name)?, instructions(&without, name)?);
        let percent = (with as f64 / without as f64 - 1.0) * 100.0;
        println!("{name:<14}{:>16}{:>16}{percent:>7.2} %", grouped(with), grouped(without));
        ensure!(percent <= options.most, "{name}: that is more than {} %", options.most);
    }
    Ok(())
}

fn build(workspace: &Workspace, name: &str, features: &str) -> Result<PathBuf> {
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--quiet", "--release", "--package", "slabscope-benches"]);
    cargo.args(["--bin", "alloc-slabscope", "--no-default-features", "--features", features]);
    command::run(&mut cargo)?;
    // The next build overwrites it.
    let directory = workspace.target().join("bench-overhead");
    std::fs::create_dir_all(&directory)?;
    let copy = directory.join(name);
    std::fs::copy(workspace.target().join("release/alloc-slabscope"), &copy)
        .with_context(|| format!("cannot copy the program to {}", copy.display()))?;
    Ok(copy)
}

/// How many instructions a workload takes.
fn instructions(program: &Path, workload: &str) -> Result<u64> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-fd=1"]);
    let said = command::output(valgrind.arg(program).arg(workload).env_remove("SLABSCOPE"))
        .context("valgrind is needed")?;
    collected(&String::from_utf8(said)?).with_context(|| format!("no count for {workload}"))
}

/// The count in what callgrind says.
fn collected(said: &str) -> Option<u64> {
    let line = said.lines().find_map(|line| line.split("Collected : ").nth(1))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_found() {
        let said = "==7== Events    : Ir\n5 6 7\n==7== Collected : 1837459623\n==7==\n";
        assert_eq!(collected(said), Some(1_837_459_623));
        assert_eq!(collected("==7== Collected : some"), None);
        assert_eq!(collected(""), None);
    }
}
