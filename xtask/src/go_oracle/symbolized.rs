//! A trace with its names in it: the only one of ours with stacks in Go's own table.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::compare;
use super::install::Go;
use crate::command;

/// The trace among those of the integration tests that it is made of. Its stacks are of several kinds.
const PLAIN: &str = "stacks-64";

/// Makes it in `directory`, and compares it record for record, which are what has the stacks.
pub(super) fn make(
    go: &Go,
    slabscope: &Path,
    traces: &[PathBuf],
    directory: &Path,
) -> Result<PathBuf> {
    let plain = traces.iter().find(|trace| trace.file_stem().is_some_and(|stem| stem == PLAIN));
    let plain = plain.with_context(|| format!("the integration tests wrote no {PLAIN}.trace"))?;
    let path = directory.join("symbolized.trace");
    let mut symbolize = Command::new(slabscope);
    command::run(symbolize.args(["symbolize", "--no-cache"]).arg(plain).arg("-o").arg(&path))?;
    let mut stacks = 0_u64;
    let mut ours = Command::new(slabscope);
    ours.args(["dump", "--wire"]).arg(&path);
    let (_, is_sound) = compare::outputs(&mut go.wire(&path), &mut ours, |line| {
        stacks += u64::from(line.starts_with(b"Stack "));
    })
    .with_context(|| path.display().to_string())?;
    if !is_sound || stacks == 0 {
        bail!("{}: Go's reader finds {stacks} stacks and then fails, or none", path.display());
    }
    Ok(path)
}
