//! `cargo xtask bench record`: what recording adds to a program's time, and what other recorders add.
//!
//! In every round each workload runs untraced and then traced, in each mode, one right after the
//! other. What is told of them is the middle of the differences, so that what disturbs the machine
//! for longer than a round falls out.

mod case;
mod peer;
mod report;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::bench::measure::median;
use crate::workspace::Workspace;
use case::{Case, Mode, Programs, Run};
use peer::{Against, Peer};

/// What to run.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How often to run each workload with and without a trace
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only workloads whose key contains this; may be given several times
    #[arg(long, value_name = "KEY")]
    workload: Vec<String>,
    /// Only this mode; may be given several times
    #[arg(long, value_name = "MODE")]
    mode: Vec<String>,
    /// How often to run each peer; 0 leaves them out
    #[arg(long, default_value_t = 1)]
    peer_rounds: u32,
    /// Write the results to this file too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What recording added to one workload in one mode, over all rounds.
#[derive(Debug)]
pub(crate) struct Added {
    case: &'static Case,
    mode: &'static Mode,
    untraced: Vec<Run>,
    traced: Vec<Run>,
}

/// Runs it.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let directory = workspace.target().join("bench-record");
    fs::create_dir_all(&directory)
        .with_context(|| format!("{}: cannot be made", directory.display()))?;
    let cases: Vec<_> =
        case::CASES.iter().filter(|case| is_wanted(&options.workload, case.key)).collect();
    let modes: Vec<_> =
        case::MODES.iter().filter(|mode| is_chosen(&options.mode, mode.name)).collect();
    if cases.is_empty() || modes.is_empty() {
        bail!("nothing is left to run");
    }
    let ours = Programs::build(workspace, &modes)?;
    let added = measure(&ours, &directory, &cases, &modes, options.rounds)?;
    let mut against = Vec::new();
    if options.peer_rounds > 0 {
        for peer in peer::build(workspace, &directory)? {
            compare(&peer, &cases, options.peer_rounds, &mut against)?;
        }
    }
    print!("{}", report::text(&added, &against));
    if let Some(path) = &options.json {
        fs::write(path, report::json(&added, &against))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn is_wanted(parts: &[String], name: &str) -> bool {
    parts.is_empty() || parts.iter().any(|part| name.contains(part.as_str()))
}

fn is_chosen(names: &[String], name: &str) -> bool {
    names.is_empty() || names.iter().any(|one| one == name)
}

fn measure(
    programs: &Programs,
    directory: &Path,
    cases: &[&'static Case],
    modes: &[&'static Mode],
    rounds: u32,
) -> Result<Vec<Added>> {
    let pairs = cases.iter().flat_map(|&case| modes.iter().map(move |&mode| (case, mode)));
    let mut all: Vec<Added> = pairs
        .map(|(case, mode)| Added { case, mode, untraced: Vec::new(), traced: Vec::new() })
        .collect();
    for round in 1..=rounds {
        eprintln!("round {round} of {rounds}");
        for added in &mut all {
            let program = programs.of(added.mode)?;
            let untraced = case::untraced(program, added.case)?;
            let traced = case::traced(program, directory, added.case, added.mode)?;
            if untraced.checksum != traced.checksum {
                bail!("{} came to another result when it was traced", added.case.key);
            }
            if traced.lost > 0 && !added.mode.may_lose {
                bail!("{}: {} events are not in the trace", added.case.key, traced.lost);
            }
            added.untraced.push(untraced);
            added.traced.push(traced);
        }
    }
    Ok(all)
}

fn compare(peer: &Peer, cases: &[&'static Case], rounds: u32, to: &mut Vec<Against>) -> Result<()> {
    for case in cases.iter().filter(|case| peer.is_for(case)) {
        let mut nanos = Vec::new();
        for _ in 0..rounds {
            let plain = peer.plain(case)?;
            let recorded = peer.recorded(case)?;
            if plain.checksum != recorded.checksum {
                bail!("{} came to another result under {}", case.key, peer.name);
            }
            nanos.push(recorded.nanos as f64 - plain.nanos as f64);
        }
        to.push(Against { peer: peer.name, case: case.key, added_nanos: median(nanos) });
    }
    Ok(())
}

impl Added {
    /// Nanoseconds that an event added, round by round.
    fn by_round(&self) -> Vec<f64> {
        let pairs = self.untraced.iter().zip(&self.traced);
        pairs
            .map(|(untraced, traced)| {
                // Threads that do the same at the same time have their events at the same time.
                let events = traced.events as f64 / f64::from(self.case.threads);
                (traced.time() - untraced.time()) / events.max(1.0)
            })
            .collect()
    }

    /// Nanoseconds that each alloc event took longer for its call stack than events do in `without`, round
    /// by round. What a workload makes it drops, so half of its events are allocs.
    fn stacks_by_round(&self, without: &Added) -> Vec<f64> {
        let pairs = self.by_round().into_iter().zip(without.by_round());
        pairs.map(|(with, without)| 2.0 * (with - without)).collect()
    }

    /// The same workload in the same build without stacks, if this has them and that was measured.
    fn without_stacks<'a>(&self, all: &'a [Added]) -> Option<&'a Added> {
        let mode = self.mode.without_stacks?;
        all.iter().find(|one| one.case.key == self.case.key && one.mode.name == mode)
    }

    /// Nanoseconds that recording added in all.
    fn nanos(&self) -> f64 {
        let pairs = self.untraced.iter().zip(&self.traced);
        median(
            pairs.map(|(untraced, traced)| traced.nanos as f64 - untraced.nanos as f64).collect(),
        )
    }

    fn median_of(&self, of: impl Fn(&Run) -> f64) -> f64 {
        median(self.traced.iter().map(of).collect())
    }
}
