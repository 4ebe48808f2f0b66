//! Programs that are told the same file: what a program starts inherits the variable. Each has a trace
//! of its own, and none takes another's memory away.
#![cfg(feature = "recorder")]

mod support;

use std::process::Command;

use slabscope_wire::alloc_free::EndReason;
use support::{child, names, replay, succeed};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

/// A size that each program asks for, by its place in the row.
fn mark(place: usize) -> usize {
    60_000 + place
}

#[test]
fn programs_that_inherit_the_variable_have_traces_of_their_own() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("same.trace");
    let variable = format!("traceallocfree=1,out={}", path.display());
    let output = succeed(child("starts_another", Some(&variable)).env("PLACE", "1"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(stderr.lines().count(), 2, "{stderr}");
    assert!(stderr.contains("another process writes it"), "{stderr}");
    let expected = ["same.trace", "same.trace.2", "same.trace.3"];
    assert_eq!(names(directory.path()), expected);
    for (index, name) in expected.iter().enumerate() {
        let replayed = replay(&directory.path().join(name));
        assert_eq!((replayed.lost(), replayed.reason()), (0, Some(EndReason::Exited)));
        let has = |place| replayed.sites.values().any(|&(size, _)| size == mark(place) as u64);
        assert_eq!([1, 2, 3].map(has), [1, 2, 3].map(|place| place == index + 1), "{name}");
    }
}

#[test]
fn files_that_were_removed_belong_to_whoever_has_them_open() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("removed.trace");
    let variable = format!("traceallocfree=1,out={}", path.display());
    // It removes both its files before it starts the next.
    let output =
        succeed(child("starts_another", Some(&variable)).env("PLACE", "2").env("REMOVE", &path));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(names(directory.path()), ["removed.trace"]);
    let replayed = replay(&path);
    assert_eq!((replayed.lost(), replayed.reason()), (0, Some(EndReason::Exited)));
    assert!(replayed.sites.values().any(|&(size, _)| size == mark(3) as u64));
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn starts_another() {
    let place: usize = std::env::var("PLACE").ok().and_then(|n| n.parse().ok()).expect("a number");
    drop(std::hint::black_box(vec![1_u8; mark(place)]));
    if let Some(path) = std::env::var_os("REMOVE") {
        for suffix in ["", ".live"] {
            let mut name = path.clone();
            name.push(suffix);
            std::fs::remove_file(name).expect("a file of this trace");
        }
    }
    if place < 3 {
        let mut next = Command::new(std::env::current_exe().expect("this program"));
        next.args(std::env::args_os().skip(1)).env("PLACE", (place + 1).to_string());
        assert!(next.env_remove("REMOVE").status().expect("it starts").success());
    }
    // All of the recorder's memory is still there.
    let kept: Vec<String> = (0..200_000).map(|n| n.to_string()).collect();
    drop(std::hint::black_box(kept));
}
