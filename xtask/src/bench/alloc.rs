//! `cargo xtask bench alloc`: our heap beside others, in the same programs.
//!
//! Each allocator has a program of its own that runs each workload in a process of its own. In
//! every round each workload runs once on every allocator, one right after the other, so that what
//! disturbs the machine meanwhile disturbs them alike.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use crate::bench::measure::measure;
use crate::bench::run_log::RunLog;
use crate::bench::{peers, report};
use crate::workspace::Workspace;

/// What to run.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How often to run each workload on each allocator
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only workloads whose name contains this; may be given several times
    #[arg(long, value_name = "NAME")]
    workload: Vec<String>,
    /// Only this allocator, beside mimalloc; may be given several times
    #[arg(long, value_name = "NAME")]
    allocator: Vec<String>,
    /// Note each run in this file, and count those that are in it: so rounds can be made in pieces. It is for
    /// one version of everything
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Write the results to this file too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs it.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let programs = peers::build(workspace, &options.allocator)?;
    let mut workloads = peers::workloads(&programs)?;
    if !options.workload.is_empty() {
        workloads.retain(|name| options.workload.iter().any(|part| name.contains(part.as_str())));
    }
    let mut log = match &options.resume {
        Some(path) => RunLog::open(path)?,
        None => RunLog::default(),
    };
    let results = measure(&programs, &workloads, options.rounds, &mut log)?;
    let about = report::About::of_this_machine(workspace, results.rounds())?;
    print!("{}", report::text(&about, &results));
    if let Some(path) = &options.json {
        std::fs::write(path, report::json(&about, &results))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
