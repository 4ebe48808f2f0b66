//! The chores of the workspace as code: `cargo xtask demo`, `test`, `ci` and what they are made of.
//!
//! One file a task. Results go to stdout, what is being done to stderr.
#![forbid(unsafe_code)]

mod bench;
mod causality;
mod ci;
mod command;
mod demo;
mod firefox;
mod fuzz;
mod go_oracle;
mod kill;
mod test;
mod text;
mod tidy;
mod types;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use go_oracle::Versions;
use workspace::Workspace;

/// The chores of the slabscope workspace.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask", max_term_width = 80)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Run a real program traced, and explain its trace
    Demo,
    /// Run all tests that need nothing but Rust
    Test,
    /// Check everything the tests do not: format, lints, docs, layers, the
    /// demo, and our traces against Go's reader
    Ci,
    /// Check what the compiler does not: layers, file heads, paths in docs
    Tidy,
    /// Compare our reader with Go's, event for event
    GoOracle {
        /// Traces to compare on, instead of the demo's, the tests' and Go's
        traces: Vec<PathBuf>,
        /// Compare on Go's own tests, and on a program of Go that does a little
        /// of all
        #[arg(long, conflicts_with = "traces")]
        conformance: bool,
        /// That program by all versions of Go since 1.22: 1.2 GB to fetch
        #[arg(long, requires = "conformance")]
        all_versions: bool,
    },
    /// Find out the types of what programs allocate, as a release build has
    /// them: are they true, and how many are there?
    Types,
    /// Kill traced programs at random moments: is every event recovered?
    Kill {
        /// How many
        #[arg(long, default_value_t = 1000)]
        runs: u64,
    },
    /// Have threads hand objects to each other, traced: is the order of events
    /// right?
    Causality {
        /// How many in all; each trace has a hundred million at most
        #[arg(long, default_value_t = 20_000_000)]
        events: u64,
    },
    /// Have Firefox Profiler's own code open an export; needs the package
    /// indexes of Python and npm
    Firefox,
    /// Fuzz the readers, steered by coverage; needs a C++ compiler
    Fuzz {
        /// How long each target runs
        #[arg(long, default_value_t = 60)]
        seconds: u32,
        /// One of the files in fuzz/fuzz_targets, instead of all
        target: Option<String>,
    },
    /// Run benchmarks; needs a C compiler
    #[command(subcommand)]
    Bench(bench::Bench),
}

fn main() -> ExitCode {
    match run(Arguments::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    let workspace = Workspace::find()?;
    match task {
        Task::Demo => demo::run(&workspace),
        Task::Test => test::run(&workspace),
        Task::Ci => ci::run(&workspace),
        Task::Tidy => tidy::run(&workspace),
        Task::GoOracle { conformance: true, all_versions, .. } => {
            let versions = if all_versions { Versions::All } else { Versions::Newest };
            go_oracle::conformance(&workspace, versions)
        }
        Task::GoOracle { traces, .. } => go_oracle::run(&workspace, traces),
        Task::Types => types::run(&workspace),
        Task::Kill { runs } => kill::run(&workspace, runs),
        Task::Causality { events } => causality::run(&workspace, events),
        Task::Firefox => firefox::run(&workspace),
        Task::Fuzz { seconds, target } => fuzz::run(&workspace, seconds, target.as_deref(), None),
        Task::Bench(which) => bench::run(&workspace, which),
    }
}
