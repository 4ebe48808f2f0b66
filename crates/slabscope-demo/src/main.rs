//! A program as people write them: it reads Rust sources on several threads, builds an index of what
//! they declare and say, and answers a few questions from it.
//!
//! Nothing in it knows of tracing. The one line that matters is the `#[global_allocator]`.
#![forbid(unsafe_code)]

mod index;
mod items;
mod report;
mod sources;
mod work;

use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use anyhow::{Context, Result, bail};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

/// Threads beyond the machine's, so that objects are freed by others than those who made them even
/// on a small machine.
const WORKERS_MIN: usize = 4;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("slabscope-demo: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<()> {
    let directories: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if directories.is_empty() {
        bail!("which directories? Usage: slabscope-demo DIRECTORY...");
    }
    let mut files = Vec::new();
    for directory in &directories {
        sources::find(directory, &mut files)
            .with_context(|| format!("{}: cannot be listed", directory.display()))?;
    }
    files.sort_unstable();
    files.dedup();
    let workers = thread::available_parallelism().map_or(1, NonZero::get).max(WORKERS_MIN);
    let index = work::index(files, workers)?;
    print!("{}", report::summary(&index));
    Ok(())
}
