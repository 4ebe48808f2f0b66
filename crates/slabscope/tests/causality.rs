//! Objects that threads hand to each other and free there, at every size: in the trace no free comes before
//! its alloc, and no alloc at a place that is taken.
//!
//! `cargo xtask causality` runs the program over many millions of events.
#![cfg(feature = "recorder")]

mod support;

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

use support::pester::Pesterer;
use support::{Traces, child, handing, replay, succeed, wait};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

/// Objects of the cases below.
const OBJECTS: &str = "150000";

#[test]
fn what_is_handed_over_is_freed_after_it_was_allocated() {
    for (name, rings, clock) in [
        ("auto", "auto", "adaptive"),
        ("auto-pestered", "auto", "adaptive"),
        ("cas-pestered", "cas", "adaptive"),
        ("precise-pestered", "auto", "precise"),
        ("auto-pestered-forking", "auto", "adaptive"),
        ("cas-pestered-forking", "cas", "adaptive"),
    ] {
        let traces = Traces::new();
        let path = traces.path(&format!("causality-{name}.trace"));
        let out = path.display();
        let variable = format!("traceallocfree=1,rings={rings},clock={clock},out={out}");
        let mut program = child("hands_over", Some(&variable));
        program.env("SLABSCOPE_OBJECTS", OBJECTS);
        if name.contains("pestered") {
            program.env("SLABSCOPE_PESTER", "1");
        }
        if name.ends_with("forking") {
            program.env("SLABSCOPE_FORK", "1");
        }
        succeed(&mut program);
        let replayed = replay(&path);
        assert_eq!(replayed.lost(), 0);
        assert!(replayed.counts[4] >= OBJECTS.parse().expect("a number"));
    }
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn hands_over() {
    let objects = std::env::var("SLABSCOPE_OBJECTS").expect("the parent says how many");
    let pesterer = std::env::var_os("SLABSCOPE_PESTER").map(|_| Pesterer::start());
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let forks = std::env::var_os("SLABSCOPE_FORK").is_some();
        let forker = forks.then(|| scope.spawn(|| fork_until(&is_over, pesterer.as_ref())));
        handing::hand_over(objects.parse().expect("a number"), pesterer.as_ref());
        is_over.store(true, Ordering::Relaxed);
        if let Some(forker) = forker {
            println!("{} forks", forker.join().expect("it ends well"));
        }
    });
    if let Some(pesterer) = pesterer {
        println!("{} signals", pesterer.end());
    }
}

/// Forks again and again, at least once; how often. The children allocate, and leave the trace alone.
fn fork_until(is_over: &AtomicBool, pesterer: Option<&Pesterer>) -> u64 {
    let _victim = pesterer.map(Pesterer::enter);
    let mut forks = 0;
    while forks == 0 || !is_over.load(Ordering::Relaxed) {
        // SAFETY: the child allocates, which this allocator allows after fork, and ends by _exit.
        match unsafe { libc::fork() } {
            0 => {
                assert!(!slabscope::trace::is_running());
                let texts: Vec<String> = (0..200).map(|n: u32| n.to_string()).collect();
                drop(black_box(texts));
                // SAFETY: _exit has no precondition.
                unsafe { libc::_exit(0) };
            }
            pid => assert_eq!(wait(pid), 0, "fork {forks}"),
        }
        forks += 1;
    }
    forks
}
