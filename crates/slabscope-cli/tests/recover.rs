//! Traces that a killed program left, with the live file beside them.

#[path = "../../slabscope-recover/tests/builder/mod.rs"]
mod builder;

use std::fs;
use std::path::PathBuf;

use assert_cmd::Command;
use builder::LiveFile;
use predicates::prelude::predicate::str::contains;
use slabscope_wire::live::header;
use tempfile::TempDir;

/// A trace whose recorder never wrote, and its live file.
fn killed(live: &LiveFile) -> (TempDir, PathBuf, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("app.trace");
    let live_path = directory.path().join("app.trace.live");
    fs::write(&trace, b"").unwrap();
    fs::write(&live_path, &live.bytes).unwrap();
    (directory, trace, live_path)
}

fn slabscope(command: &str, trace: &PathBuf) -> Command {
    let mut slabscope = Command::cargo_bin("slabscope").unwrap();
    slabscope.arg(command).arg(trace);
    slabscope
}

#[test]
fn every_command_takes_what_the_live_file_has_and_leaves_both_alone() {
    let (_directory, trace, live) = killed(&LiveFile::with_events(false));
    slabscope("report", &trace)
        .assert()
        .success()
        .stdout(contains("the program was killed"))
        .stderr(contains("4 events come from .live"));
    slabscope("verify", &trace).assert().success().stdout(contains("sound"));
    slabscope("dump", &trace).assert().success().stdout(contains("HeapObjectFree"));
    assert_eq!(fs::read(&trace).unwrap(), b"");
    assert!(live.exists());
}

#[test]
fn recover_writes_it_and_removes_the_live_file() {
    let (_directory, trace, live) = killed(&LiveFile::with_events(true));
    let output = slabscope("recover", &trace).arg("--json").assert().success().get_output().clone();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["recover"], serde_json::json!({ "done": "recovered", "events": 4 }));
    assert!(!live.exists());
    slabscope("verify", &trace).assert().success().stderr("");
    slabscope("recover", &trace).assert().success().stdout(contains("nothing to recover"));
}

#[test]
fn recover_says_what_it_did() {
    let (_directory, trace, _) = killed(&LiveFile::with_events(true));
    slabscope("recover", &trace).assert().success().stdout(contains("4 events came"));
}

#[test]
fn a_broken_live_file_is_named_and_the_trace_read_without_it() {
    let mut live = LiveFile::with_events(false);
    live.set_header(header::VERSION, 99);
    let (_directory, trace, live) = killed(&live);
    slabscope("report", &trace)
        .assert()
        .code(2)
        .stderr(contains("app.trace.live: its layout has version 99"))
        .stderr(contains("it is empty"));
    slabscope("recover", &trace).assert().code(2).stderr(contains("version 99"));
    assert!(live.exists());
}
