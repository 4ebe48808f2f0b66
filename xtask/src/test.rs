//! `cargo xtask test`: all tests that need nothing but Rust.

use anyhow::Result;

use crate::command;
use crate::workspace::Workspace;

/// Runs them, documentation tests too. The benchmarks are left out: they need a C compiler.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    command::run(workspace.cargo().args(["test", "--workspace", "--exclude", "slabscope-benches"]))
}
