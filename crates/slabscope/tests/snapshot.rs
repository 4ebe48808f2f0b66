//! A trace that begins and ends in mid-program is exact: what it says is live at its end is what the
//! program has, and no event is without its cause.
#![cfg(feature = "recorder")]

mod support;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use slabscope::stack::Stack;
use support::counting::{Counting, LIVE};
use support::workers::Workers;
use support::{Replayed, Traces, child, replay, succeed};

#[global_allocator]
static GLOBAL: Counting = Counting(slabscope::Slabscope::new());

#[test]
fn a_trace_begun_while_four_threads_allocate_is_exact_with_rseq_rings() {
    let traces = Traces::new();
    let path = traces.path("snapshot-auto.trace");
    succeed(child("four_threads", Some("rings=auto")).env("TRACE", &path));
    assert_eq!(replay(&path).build["rings"], "rseq");
}

#[test]
fn a_trace_begun_while_four_threads_allocate_is_exact_with_cas_rings() {
    let traces = Traces::new();
    let path = traces.path("snapshot-cas.trace");
    succeed(child("four_threads", Some("rings=cas")).env("TRACE", &path));
    assert_eq!(replay(&path).build["rings"], "cas (forced)");
}

#[test]
fn forty_traces_of_one_program_are_each_exact() {
    let traces = Traces::new();
    let path = traces.path("snapshot-again.trace");
    succeed(child("forty_traces", None).env("TRACE", &path));
}

fn path() -> PathBuf {
    std::env::var_os("TRACE").expect("the parent says where").into()
}

/// Traces `workers` for a while; the trace must agree with the program.
fn trace_for(workers: &Workers, path: &Path, length: Duration) -> Replayed {
    let before = Stack::new(64 << 10).expect("a stack");
    let dropped = Stack::new(64 << 10).expect("a stack");
    slabscope::trace::start_to(path).expect("a trace");
    let during = Stack::new(20_000).expect("a stack");
    drop(dropped);
    std::thread::sleep(length);
    // Room for the file's name and contents is made after the count.
    let (live, summary, held) = workers.still(|held| {
        let held = held.to_vec();
        let live = LIVE.load(Ordering::Relaxed);
        let summary = slabscope::trace::stop().expect("it was running");
        (live, summary, held)
    });
    let replayed = replay(path);
    assert_eq!((summary.lost, summary.failure), (0, None));
    assert_eq!(summary.events, replayed.events());
    assert_eq!(replayed.objects.len() as i64, live, "live at the end");
    for (address, size) in held {
        let site = replayed.objects.get(&(address as u64));
        let site = *site.unwrap_or_else(|| panic!("{address:#x} is missing"));
        if let Some(&(requested, _)) = replayed.sites.get(&site) {
            assert_eq!(requested, size as u64);
        }
    }
    for stack in [&before, &during] {
        let order = replayed.stacks[&(stack.bottom().addr().get() as u64)];
        assert_eq!(1 << (order - 1), stack.size());
    }
    // The process's own stack, the test's if that is another, the workers', and these two.
    assert!(replayed.stacks.len() >= 7, "{:?}", replayed.stacks);
    replayed
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn four_threads() {
    let workers = Workers::start(4);
    std::thread::sleep(Duration::from_millis(200));
    // A generation takes a second, and as much more as the drainer comes too late on a busy machine.
    let seconds = [2.3, 5.0, 10.0, 20.0];
    let mut traces = seconds
        .into_iter()
        .map(|length| trace_for(&workers, &path(), Duration::from_secs_f64(length)));
    let replayed = traces.find(|replayed| replayed.generations >= 3);
    let replayed = replayed.expect("three generations in twenty seconds");
    assert!(replayed.counts.iter().take(6).all(|&n| n > 0), "{:?}", replayed.counts);
    assert!(replayed.metrics > 0, "the size of the heap is in it");
    assert!(replayed.threads.values().any(|name| name == "worker 3"), "{:?}", replayed.threads);
    workers.end();
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn forty_traces() {
    let workers = Workers::start(4);
    for _ in 0..40 {
        trace_for(&workers, &path(), Duration::from_millis(3));
    }
    workers.end();
}
