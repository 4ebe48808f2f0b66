//! `cargo xtask kill`: kills traced programs at random moments, and holds what is recovered against
//! what they had done.

use anyhow::Result;

use crate::command;
use crate::workspace::Workspace;

/// Kills `runs` programs.
pub(crate) fn run(workspace: &Workspace, runs: u64) -> Result<()> {
    let mut test = workspace.cargo();
    test.args(["test", "--package", "slabscope", "--test", "kill", "--", "--nocapture"]);
    command::run(test.env("SLABSCOPE_KILLS", runs.to_string()))
}
