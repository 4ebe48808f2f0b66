//! Go's pprof on a profile of ours.

use anyhow::Result;

use super::install::Go;
use crate::command;
use crate::workspace::Workspace;

/// Runs the test of it, which is left out where there is no Go.
pub(super) fn run(workspace: &Workspace, go: &Go) -> Result<()> {
    let mut cargo = workspace.cargo();
    cargo.args(["test", "--quiet", "--package", "slabscope-cli", "--test", "export", "--"]);
    cargo.args(["--ignored", "go_tool_pprof_opens_it"]);
    go.toolchain().set_environment(&mut cargo);
    command::run(cargo.env("SLABSCOPE_GO", go.toolchain().program()))
}
