//! Other recorders, on the C library's heap: what they add to the same workloads.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Result;

use super::case::{self, Case, Run};
use crate::command;
use crate::workspace::Workspace;

/// Debian's package, which follows a program that was built without it.
pub(crate) const HEAPTRACK: &str = "heaptrack";
/// A crate.
pub(crate) const DHAT: &str = "dhat";
/// A crate.
pub(crate) const HEAPSCOPE: &str = "heapscope";

/// The workload for those that take seconds for each million of events.
const FOR_SLOW_ONES: &str = "json";

/// What a peer added to a workload.
#[derive(Debug)]
pub(crate) struct Against {
    pub(crate) peer: &'static str,
    pub(crate) case: &'static str,
    pub(crate) added_nanos: f64,
}

/// A recorder.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    /// The workloads on the C library's heap, nothing else.
    plain: PathBuf,
    /// The workloads with the recorder in; for heaptrack the same.
    program: PathBuf,
    /// Where its files go.
    directory: PathBuf,
}

/// Builds what can be built here; what cannot is left out with a line that says so.
pub(crate) fn build(workspace: &Workspace, directory: &Path) -> Result<Vec<Peer>> {
    let plain = case::build_program(workspace, "alloc-glibc", "")?;
    let mut peers = Vec::new();
    let mut add = |name, program: Result<PathBuf>| match program {
        Ok(program) => {
            let (plain, directory) = (plain.clone(), directory.to_owned());
            peers.push(Peer { name, plain, program, directory });
        }
        Err(error) => eprintln!("left out: {name}: {error:#}"),
    };
    add(HEAPTRACK, heaptrack(&plain));
    add(DHAT, case::build_program(workspace, "alloc-dhat", DHAT));
    add(HEAPSCOPE, heapscope(workspace));
    Ok(peers)
}

/// Whether heaptrack is there; it runs the plain program.
fn heaptrack(plain: &Path) -> Result<PathBuf> {
    command::output(Command::new(HEAPTRACK).arg("--version"))?;
    Ok(plain.to_owned())
}

/// It walks the stack by frame pointers, which takes a build of its own. The version of the compiler
/// that it asks for is newer than ours; ours builds it.
fn heapscope(workspace: &Workspace) -> Result<PathBuf> {
    case::build_with_frame_pointers(workspace, "alloc-heapscope", HEAPSCOPE)
}

impl Peer {
    /// Whether it is measured on this workload.
    pub(crate) fn is_for(&self, case: &Case) -> bool {
        match self.name {
            HEAPTRACK => case.threads == 1,
            _ => case.key == FOR_SLOW_ONES,
        }
    }

    /// The workload without it.
    pub(crate) fn plain(&self, case: &Case) -> Result<Run> {
        case::run(Command::new(&self.plain).arg(case.workload))
    }

    /// The workload with it.
    pub(crate) fn recorded(&self, case: &Case) -> Result<Run> {
        let mut command = if self.name == HEAPTRACK {
            let mut command = Command::new(HEAPTRACK);
            command.arg("--output").arg(self.directory.join("heaptrack"));
            command.arg(&self.program).arg(case.workload);
            command
        } else {
            let mut command = Command::new(&self.program);
            command.args([case.workload, "recorded"]);
            command
        };
        case::run(command.current_dir(&self.directory).stderr(Stdio::null()))
    }
}
