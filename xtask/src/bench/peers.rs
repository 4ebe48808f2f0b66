//! The allocators that are compared, and the programs built on each.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command;
use crate::workspace::Workspace;

/// All others are compared with this one.
pub(crate) const BASELINE: &str = "mimalloc";

/// An allocator: its name, the program built on it, the crate's features that takes, and the crate
/// whose version to name.
struct Peer {
    name: &'static str,
    program: &'static str,
    features: &'static str,
    krate: &'static str,
}

const fn peer(
    name: &'static str,
    program: &'static str,
    features: &'static str,
    krate: &'static str,
) -> Peer {
    Peer { name, program, features, krate }
}

/// Ours first, then the baseline. The two versions of mimalloc exclude each other in one build.
const PEERS: [Peer; 7] = [
    peer("slabscope", "alloc-slabscope", "recorder", "slabscope"),
    peer(BASELINE, "alloc-mimalloc", "mimalloc", "mimalloc"),
    peer("mimalloc2", "alloc-mimalloc", "mimalloc-v2", "mimalloc"),
    peer("jemalloc", "alloc-jemalloc", "jemalloc", "tikv-jemallocator"),
    peer("snmalloc", "alloc-snmalloc", "snmalloc", "snmalloc-rs"),
    peer("rusty_alloc", "alloc-rusty_alloc", "rusty-alloc", "rusty_alloc-api"),
    peer("glibc", "alloc-glibc", "", ""),
];

/// A program that runs the workloads on one allocator.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// The allocator's version, as far as it is a crate's.
    pub(crate) version: String,
    pub(crate) path: PathBuf,
}

/// Builds the programs of the allocators in `only`, ours and the baseline's, or of all. One that
/// cannot be built here is left out, with a line that says so.
pub(crate) fn build(workspace: &Workspace, only: &[String]) -> Result<Vec<Program>> {
    if let Some(unknown) = only.iter().find(|&name| PEERS.iter().all(|peer| peer.name != name)) {
        bail!("there is no allocator {unknown}; there are {}", PEERS.map(|p| p.name).join(", "));
    }
    let wanted = |name: &str| {
        only.is_empty() || ["slabscope", BASELINE].contains(&name) || only.iter().any(|o| o == name)
    };
    let mut programs = Vec::new();
    for peer in PEERS.iter().filter(|peer| wanted(peer.name)) {
        match build_one(workspace, peer) {
            Ok(path) => {
                let version = workspace.version_of(peer.krate).unwrap_or_default();
                programs.push(Program { name: peer.name, version, path });
            }
            Err(error) if ["slabscope", BASELINE].contains(&peer.name) => return Err(error),
            Err(error) => eprintln!("left out: {}: {error:#}", peer.name),
        }
    }
    Ok(programs)
}

fn build_one(workspace: &Workspace, peer: &Peer) -> Result<PathBuf> {
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--quiet", "--release", "--package", "slabscope-benches"]);
    cargo.args(["--bin", peer.program, "--no-default-features", "--features", peer.features]);
    command::run(&mut cargo)?;
    // The next build may overwrite it.
    let directory = workspace.target().join("bench-alloc");
    std::fs::create_dir_all(&directory)?;
    let copy = directory.join(peer.name);
    std::fs::copy(workspace.target().join("release").join(peer.program), &copy)
        .with_context(|| format!("cannot copy {}", peer.program))?;
    Ok(copy)
}

/// The names of all workloads.
pub(crate) fn workloads(programs: &[Program]) -> Result<Vec<String>> {
    let program = programs.first().context("no allocator is left")?;
    let list = command::output(Command::new(&program.path).arg("list"))?;
    Ok(String::from_utf8(list)?.lines().map(str::to_owned).collect())
}
