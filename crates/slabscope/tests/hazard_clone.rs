//! Children that the C library does not know of: made by a bare `clone`, or by `_Fork`, they are forks
//! whose hooks never ran. They have the parent's rings mapped, and the parent's drainer writes what
//! is in them.
#![cfg(feature = "recorder")]

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};

use support::workers::{Random, Workers};
use support::{Traces, child, replay, succeed, wait};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

/// How such a child is made.
type Fork = fn() -> i32;

const WAYS: [Fork; 2] = [bare_clone, fork_without_hooks];

fn bare_clone() -> i32 {
    // SAFETY: without a stack of its own the child goes on with a copy of ours, as after `fork`.
    let pid = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    i32::try_from(pid).expect("a process id")
}

fn fork_without_hooks() -> i32 {
    unsafe extern "C" {
        fn _Fork() -> i32;
    }
    // SAFETY: as for `fork`.
    unsafe { _Fork() }
}

#[test]
fn a_child_without_hooks_allocates_and_leaves_the_trace_alone() {
    for rings in ["auto", "cas"] {
        let traces = Traces::new();
        let path = traces.path(&format!("clone-{rings}.trace"));
        // A child that waited for a drainer, which it does not have, would do so for minutes.
        let variable = format!("traceallocfree=1,stall=300s,rings={rings},out={}", path.display());
        let output = succeed(child("clones", Some(&variable)).env("TRACE", &path));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(replay(&path).lost(), 0);
        for way in 0..WAYS.len() {
            let own = path.with_extension(way.to_string());
            let replayed = replay(&own);
            assert!(replayed.lost() == 0 && replayed.counts[4] >= 1000, "{:?}", replayed.counts);
        }
    }
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn clones() {
    let path = std::path::PathBuf::from(std::env::var_os("TRACE").expect("the parent says where"));
    let workers = Workers::start(3);
    for (index, way) in WAYS.into_iter().enumerate() {
        let own = path.with_extension(index.to_string());
        // No hook holds the others still, so we do: a lock that one of them holds would stay so.
        in_child(&workers, way, || allocate(index as u64));
        in_child(&workers, way, || make_a_trace(&own));
    }
    workers.end();
}

/// Runs `f` in a child, which then exits as programs do.
fn in_child(workers: &Workers, fork: Fork, f: impl FnOnce()) {
    let pid = workers.still(|_| match fork() {
        0 => {
            let ended_well = catch_unwind(AssertUnwindSafe(f)).is_ok();
            std::process::exit(i32::from(!ended_well))
        }
        pid => pid,
    });
    assert_eq!(wait(pid), 0);
}

fn allocate(seed: u64) {
    assert!(!slabscope::trace::is_running());
    assert_eq!(slabscope::trace::stop(), None);
    let mut random = Random(seed + 1);
    let kept: Vec<Vec<u8>> = (0..20_000).map(|_| vec![1; random.size()]).collect();
    assert_eq!(kept.len(), 20_000);
}

fn make_a_trace(path: &std::path::Path) {
    slabscope::trace::start_to(path).expect("a trace");
    let numbers: Vec<String> = (0..1000).map(|n: u32| n.to_string()).collect();
    drop(numbers);
    assert_eq!(slabscope::trace::stop().expect("it was running").lost, 0);
}
