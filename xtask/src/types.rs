//! `cargo xtask types`: types that reports find out in programs as users build them, with all that the
//! optimiser does to functions.
//!
//! Twenty-eight kinds of allocation are held against the truth, and three programs must have a type for most
//! of what they allocate: the demo, one of JSON, one of tokio.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::workspace::Workspace;
use crate::{command, demo};

/// Frames of a stack.
const STACKS: u32 = 32;

/// Shares that must have a type, in per cent: of bytes, and of objects.
const LEAST: (f64, f64) = (95.0, 90.0);

/// Says what has a type; an error when it is too little, or not true.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut tests = workspace.cargo();
    tests.args(["test", "--quiet", "--release", "--package", "slabscope-cli"]);
    tests.args(["--test", "types", "--test", "types_of_programs", "--", "--nocapture"]);
    command::run(&mut tests)?;
    let (slabscope, trace) = demo::with_stacks(workspace, STACKS)?;
    let text = command::output(Command::new(slabscope).args(["types", "--json"]).arg(&trace))?;
    std::fs::remove_file(&trace)?;
    let view: Value = serde_json::from_slice(&text)?;
    let coverage = &view["types"]["coverage"];
    let share = |what: &str, of: &str| {
        let [part, all] = [what, "all"].map(|what| coverage[what][of].as_f64());
        let (part, all) = part.zip(all).context("the coverage is not where it was")?;
        anyhow::Ok(100.0 * part / all.max(1.0))
    };
    let (bytes, objects) = (share("typed", "bytes")?, share("typed", "objects")?);
    println!(
        "demo: {bytes:.2} % of {} bytes and {objects:.2} % of {} objects have a type; \
         {:.2} % of bytes a likely one, {:.2} % a guess",
        coverage["all"]["bytes"],
        coverage["all"]["objects"],
        share("likely", "bytes")?,
        share("guessed", "bytes")?,
    );
    ensure!(bytes >= LEAST.0 && objects >= LEAST.1, "too little of the demo has a type");
    Ok(())
}
