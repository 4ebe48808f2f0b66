//! Programs and libraries that a test runs, built by the test: it may be the only one that was.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::succeed;

/// Where cargo puts what a test builds, apart from what is being tested: a directory of this name beside it.
fn target(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name(name)
}

fn cargo(target: &Path) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--target-dir"]).arg(target);
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    cargo
}

/// The library that `examples/own_copy.rs` is.
pub(crate) fn library() -> PathBuf {
    let target = target("examples");
    succeed(cargo(&target).args(["--package", "slabscope", "--example", "own_copy"]));
    target.join("debug/examples/libown_copy.so")
}

/// The demonstration program, built for release with `panic=abort`, all its crates.
pub(crate) fn aborting() -> PathBuf {
    let target = target("aborting");
    let mut cargo = cargo(&target);
    cargo.args(["--release", "--package", "slabscope-demo"]);
    succeed(cargo.env("CARGO_PROFILE_RELEASE_PANIC", "abort"));
    target.join("release/slabscope-demo")
}
