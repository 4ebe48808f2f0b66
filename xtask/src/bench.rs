//! `cargo xtask bench`: the benchmarks.

mod alloc;
mod measure;
mod overhead;
mod peers;
mod read;
mod record;
mod report;
mod run_log;

use anyhow::Result;
use clap::Subcommand;

use crate::command;
use crate::workspace::Workspace;

/// Which benchmarks.
#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// Run the same programs on our heap and on others
    Alloc(alloc::Options),
    /// Read a large trace, and a small one beside Go's tool
    Read(read::Options),
    /// Measure what recording costs, beside other recorders
    Record(record::Options),
    /// Count what the recorder costs compiled in and off; needs valgrind
    Overhead(overhead::Options),
    /// Time single operations, called directly
    Calls {
        /// Passed on to the benchmarks: a filter, say
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

/// Runs them.
pub(crate) fn run(workspace: &Workspace, which: Bench) -> Result<()> {
    match which {
        Bench::Alloc(options) => alloc::run(workspace, &options),
        Bench::Read(options) => read::run(workspace, &options),
        Bench::Record(options) => record::run(workspace, &options),
        Bench::Overhead(options) => overhead::run(workspace, &options),
        Bench::Calls { arguments } => calls(workspace, &arguments),
    }
}

fn calls(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let mut cargo = workspace.cargo();
    cargo.args(["bench", "--package", "slabscope-benches", "--bench", "*"]);
    if !arguments.is_empty() {
        cargo.arg("--").args(arguments);
    }
    command::run(&mut cargo)
}
