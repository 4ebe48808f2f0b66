//! Names that are kept from one run to the next.

#[path = "support/own_program.rs"]
mod own_program;
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::slabscope;
use tempfile::TempDir;

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

#[inline(never)]
fn allocate_much() {
    for n in 0..1000 {
        drop(std::hint::black_box(vec![0_u8; 5000 + n]));
    }
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn allocates() {
    allocate_much();
}

/// A copy of this program, and a trace of it.
fn traced(directory: &Path) -> (PathBuf, PathBuf) {
    let (program, trace) = (own_program::copy(directory), directory.join("app.trace"));
    let status = Command::new(&program)
        .args(["--exact", "allocates", "--ignored", "--test-threads=1"])
        .env("SLABSCOPE", format!("traceallocfree=1,stacks=32,out={}", trace.display()))
        .output()
        .unwrap()
        .status;
    assert!(status.success());
    (program, trace)
}

/// What `slabscope sites` says with names kept below `home`.
fn sites(trace: &Path, home: &Path, more: &[&str]) -> (String, String) {
    let output = slabscope(&["sites"])
        .arg(trace)
        .args(more)
        .env_remove("XDG_CACHE_HOME")
        .env("HOME", home)
        .assert()
        .code(0)
        .get_output()
        .clone();
    [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).into()
}

#[test]
fn the_second_answer_is_the_same_and_needs_no_program() {
    let directory = TempDir::new().unwrap();
    let home = directory.path().join("home");
    let (program, trace) = traced(directory.path());
    let without = sites(&trace, &home, &["--no-cache"]);
    assert!(!home.exists(), "something was kept");
    assert!(without.0.contains("cache::allocate_much"), "{}", without.0);
    assert_eq!(sites(&trace, &home, &[]), without);
    assert!(home.join(".cache/slabscope").is_dir());
    assert_eq!(sites(&trace, &home, &[]), without);
    fs::remove_file(&program).unwrap();
    assert_eq!(sites(&trace, &home, &[]), without);
    let missing = sites(&trace, &home, &["--no-cache"]);
    assert!(!missing.0.contains("cache::allocate_much"));
    assert!(missing.1.contains("are missing"), "{}", missing.1);
}

#[test]
fn a_home_that_cannot_be_written_costs_time_only() {
    let directory = TempDir::new().unwrap();
    let (_program, trace) = traced(directory.path());
    let home = directory.path().join("no directory");
    fs::write(&home, "a file").unwrap();
    let expected = sites(&trace, directory.path(), &["--no-cache"]);
    assert_eq!(sites(&trace, &home, &[]), expected);
}
