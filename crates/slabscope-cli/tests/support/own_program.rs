//! A program that can be traced and then be gone.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A copy of this program, as `program` in this directory.
///
/// Another process makes it: a file that this one had open for writing would still be open in whatever
/// another test starts meanwhile, and the kernel runs no program that is open for writing.
pub(crate) fn copy(directory: &Path) -> PathBuf {
    let program = directory.join("program");
    let this = std::env::current_exe().expect("the path of this program");
    let status = Command::new("cp").args([&this, &program]).status().expect("cp can be run");
    assert!(status.success(), "cp: {status}");
    program
}
