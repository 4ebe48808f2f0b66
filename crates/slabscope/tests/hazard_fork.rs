//! Fork while other threads allocate and a trace is made: parent and child go on, and the trace is
//! the parent's alone.
#![cfg(feature = "recorder")]

mod support;

use std::process::Command;
use std::time::Duration;

use support::workers::{Random, Workers};
use support::{Traces, child, replay, succeed, wait};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

#[test]
fn children_of_a_traced_program_allocate_and_its_trace_is_its_own() {
    for rings in ["auto", "cas"] {
        let traces = Traces::new();
        let path = traces.path(&format!("fork-{rings}.trace"));
        let variable = format!("traceallocfree=1,rings={rings},out={}", path.display());
        succeed(&mut child("forks", Some(&variable)));
        assert_eq!(replay(&path).lost(), 0);
    }
}

#[test]
fn children_of_a_program_without_a_trace_can_make_one() {
    let traces = Traces::new();
    let path = traces.path("fork-child.trace");
    succeed(child("child_traces", None).env("TRACE", &path));
    let replayed = replay(&path);
    assert_eq!(replayed.lost(), 0);
    assert!(replayed.counts[4] >= 1000);
}

#[test]
fn a_child_that_is_followed_makes_a_trace_of_its_own() {
    let directory = tempfile::tempdir().expect("a directory");
    let pattern = directory.path().join("follow.trace");
    let variable = format!("traceallocfree=1,follow=1,out={}", pattern.display());
    succeed(&mut child("followed", Some(&variable)));
    let parent = replay(&pattern);
    assert_eq!((parent.lost(), parent.threads.values().any(|name| name == "after")), (0, true));
    let mut children = 0;
    for entry in std::fs::read_dir(directory.path()).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path != pattern {
            let replayed = replay(&path);
            assert_eq!(replayed.lost(), 0);
            assert!(replayed.counts[3] > 0, "what the parent had is there at the start");
            assert!(replayed.threads.values().any(|name| name == "in the child"));
            children += 1;
        }
    }
    assert_eq!(children, 3);
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn followed() {
    let kept: Vec<String> = (0..100).map(|n: u32| n.to_string()).collect();
    let named = |name: &str| std::thread::Builder::new().name(name.into());
    for _ in 0..3 {
        // SAFETY: as in `forks`; the child ends by exit, which runs what this program registered.
        match unsafe { libc::fork() } {
            0 => {
                let thread = named("in the child").spawn(|| in_child_traced(1)).expect("a thread");
                thread.join().expect("it ends well");
                std::process::exit(0);
            }
            pid => assert_eq!(wait(pid), 0),
        }
    }
    let after = named("after").spawn(|| in_child_traced(2)).expect("a thread");
    after.join().expect("it ends well");
    assert_eq!(kept.len(), 100);
}

fn in_child_traced(seed: u64) {
    assert!(slabscope::trace::is_running());
    let mut random = Random(seed);
    let kept: Vec<Vec<u8>> = (0..1000).map(|_| vec![1; random.size()]).collect();
    assert_eq!(kept.len(), 1000);
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn forks() {
    let workers = Workers::start(4);
    for round in 0..40 {
        // SAFETY: the child allocates, which this allocator allows after fork, and ends by _exit.
        match unsafe { libc::fork() } {
            0 => {
                in_child(round);
                // SAFETY: _exit has no precondition.
                unsafe { libc::_exit(0) };
            }
            pid => assert_eq!(wait(pid), 0, "round {round}"),
        }
        if round % 10 == 0 {
            let status = Command::new("/bin/true").status().expect("it starts");
            assert!(status.success());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    workers.end();
}

fn in_child(seed: u64) {
    assert!(!slabscope::trace::is_running());
    let mut random = Random(seed + 1);
    let mut kept: Vec<Vec<u8>> = Vec::new();
    for _ in 0..2000 {
        kept.push(vec![1; random.size()]);
        if kept.len() > 100 {
            kept.swap_remove(random.below(100) as usize);
        }
    }
    let thread = std::thread::spawn(move || kept.iter().map(Vec::len).sum::<usize>());
    assert!(thread.join().expect("it ends") > 0);
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn child_traces() {
    let path = std::env::var_os("TRACE").expect("the parent says where");
    let workers = Workers::start(2);
    // SAFETY: as in `forks`.
    match unsafe { libc::fork() } {
        0 => {
            slabscope::trace::start_to(&path).expect("a trace");
            let numbers: Vec<String> = (0..1000).map(|n: u32| n.to_string()).collect();
            drop(numbers);
            let summary = slabscope::trace::stop().expect("it was running");
            // SAFETY: _exit has no precondition.
            unsafe { libc::_exit(i32::from(summary.lost != 0)) };
        }
        pid => assert_eq!(wait(pid), 0),
    }
    workers.end();
}
