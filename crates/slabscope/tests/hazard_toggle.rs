//! A program that changes the variable while it runs: traces begin and end as it says.

mod support;

use std::time::{Duration, Instant};

use support::workers::Workers;
use support::{Traces, child, replay, succeed};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

#[test]
fn setting_the_variable_begins_a_trace_and_unsetting_ends_it() {
    let traces = Traces::new();
    let path = traces.path("toggle.trace");
    succeed(child("toggles", Some("traceallocfree=0")).env("TRACE", &path));
    assert_eq!(replay(&path).lost(), 0);
}

#[test]
fn a_program_started_without_the_variable_does_not_follow_it() {
    succeed(&mut child("does_not_follow", None));
}

#[test]
fn a_trace_can_begin_and_end_many_times() {
    let traces = Traces::new();
    let path = traces.path("toggle-many.trace");
    succeed(child("many_traces", None).env("TRACE", &path));
    assert_eq!(replay(&path).lost(), 0);
}

/// Waits until a trace runs, or does not; how long that took.
fn wait_until(running: bool) -> Duration {
    let begun = Instant::now();
    while slabscope::trace::is_running() != running {
        assert!(begun.elapsed() < Duration::from_secs(20), "nothing happens");
        std::thread::sleep(Duration::from_millis(1));
    }
    begun.elapsed()
}

/// Waits until the file is whole: the live file is removed after that.
fn wait_for_the_end(path: &str) {
    let (live, begun) = (format!("{path}.live"), Instant::now());
    while std::fs::exists(&live).expect("a directory") {
        assert!(begun.elapsed() < Duration::from_secs(20), "the trace does not end");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn set(value: Option<&str>) {
    // SAFETY: no other thread of this program reads or changes the environment but the watcher, who
    // is made for it.
    unsafe {
        match value {
            Some(value) => std::env::set_var("SLABSCOPE", value),
            None => std::env::remove_var("SLABSCOPE"),
        }
    }
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn toggles() {
    let path = std::env::var("TRACE").expect("the parent says where");
    let workers = Workers::start(2);
    assert!(!slabscope::trace::is_running());
    let mut longest = Duration::ZERO;
    for round in 0..10 {
        set(Some(&format!("traceallocfree=1,out={path}")));
        longest = longest.max(wait_until(true));
        std::thread::sleep(Duration::from_millis(20));
        set((round % 2 == 0).then_some("traceallocfree=0"));
        longest = longest.max(wait_until(false));
        wait_for_the_end(&path);
        let replayed = replay(path.as_ref());
        assert_eq!(replayed.lost(), 0);
        assert!(replayed.counts[4] > 0);
    }
    workers.end();
    // The watcher looks every 50 ms; the rest is for a busy machine.
    assert!(longest < Duration::from_secs(5), "{longest:?}");
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn does_not_follow() {
    set(Some("traceallocfree=1,out=/dev/null"));
    std::thread::sleep(Duration::from_millis(300));
    assert!(!slabscope::trace::is_running());
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn many_traces() {
    let path = std::env::var("TRACE").expect("the parent says where");
    let workers = Workers::start(4);
    for round in 0..200 {
        slabscope::trace::start_to(&path).expect("a trace");
        let summary = slabscope::trace::stop().expect("it was running");
        assert_eq!((summary.lost, summary.failure), (0, None), "round {round}");
        assert!(summary.events > 0);
    }
    workers.end();
}
