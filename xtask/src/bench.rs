//! `cargo xtask bench`: the benchmarks.

use anyhow::Result;

use crate::command;
use crate::workspace::Workspace;

/// Runs them with `arguments`.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let mut cargo = workspace.cargo();
    cargo.args(["bench", "--package", "slabscope-benches"]);
    if !arguments.is_empty() {
        cargo.arg("--").args(arguments);
    }
    command::run(&mut cargo)
}
