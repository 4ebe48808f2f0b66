//! A program that changes the variable while it runs: traces begin and end as it says.
//!
//! `SLABSCOPE_TOGGLES` says how many traces one program makes.
#![cfg(feature = "recorder")]

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
    let output = succeed(child("many_traces", None).env("TRACE", &path));
    print!("{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(replay(&path).lost(), 0);
}

#[test]
fn a_trace_can_begin_on_a_small_stack() {
    let traces = Traces::new();
    let path = traces.path("toggle-small-stack.trace");
    let output = succeed(child("has_a_small_stack", None).env("TRACE", &path));
    print!("{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(replay(&path).lost(), 0);
}

/// Waits until a trace runs, or does not.
fn wait_until(running: bool) {
    let begun = Instant::now();
    while slabscope::trace::is_running() != running {
        // The watcher looks every 50 ms; the rest is for a busy machine.
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing happens");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until the file is whole: the live file is removed after that.
fn wait_for_the_end(path: &str) {
    let (live, begun) = (format!("{path}.live"), Instant::now());
    while std::fs::exists(&live).expect("a directory") {
        assert!(begun.elapsed() < Duration::from_secs(60), "the trace does not end");
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
    for round in 0..10 {
        set(Some(&format!("traceallocfree=1,out={path}")));
        wait_until(true);
        // The others may not get to run meanwhile, on a busy machine.
        drop(std::hint::black_box(vec![1_u8; 100]));
        std::thread::sleep(Duration::from_millis(20));
        set((round % 2 == 0).then_some("traceallocfree=0"));
        wait_until(false);
        wait_for_the_end(&path);
        let replayed = replay(path.as_ref());
        assert_eq!(replayed.lost(), 0);
        assert!(replayed.counts[4] > 0);
    }
    workers.end();
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn has_a_small_stack() {
    let path = std::env::var("TRACE").expect("the parent says where");
    let small = std::thread::Builder::new().stack_size(64 << 10);
    let thread = small.spawn(move || {
        slabscope::trace::start_to(&path).expect("a trace");
        assert_eq!(stop().lost, 0);
    });
    thread.expect("a thread").join().expect("it ends well");
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
    let times = std::env::var("SLABSCOPE_TOGGLES").map_or(100, |n| n.parse().expect("a number"));
    let workers = Workers::start(4);
    let mut events = 0;
    for round in 0..times {
        slabscope::trace::start_to(&path).expect("a trace");
        let (summary, held) = if round % 10 == 0 {
            workers.still(|held| (stop(), Some(held.to_vec())))
        } else {
            (stop(), None)
        };
        assert_eq!((summary.lost, summary.failure), (0, None), "round {round}");
        let replayed = replay(path.as_ref());
        assert_eq!((replayed.lost(), replayed.events()), (0, summary.events), "round {round}");
        for (address, _) in held.iter().flatten().filter(|(_, size)| *size > 0) {
            assert!(replayed.objects.contains_key(&(*address as u64)), "round {round}");
        }
        events += summary.events;
    }
    workers.end();
    println!("{times} traces of {events} events: each is exact by itself");
}

fn stop() -> slabscope::trace::Summary {
    slabscope::trace::stop().expect("it was running")
}
