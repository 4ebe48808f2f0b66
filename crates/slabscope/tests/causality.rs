//! Objects that threads hand to each other and free there, at every size: in the trace no free comes before
//! its alloc, and no alloc at a place that is taken.
//!
//! `cargo xtask causality` runs the program over many millions of events.
#![cfg(feature = "recorder")]

mod support;

use support::pester::Pesterer;
use support::{Traces, child, handing, replay, succeed};

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
    ] {
        let traces = Traces::new();
        let path = traces.path(&format!("causality-{name}.trace"));
        let out = path.display();
        let variable = format!("traceallocfree=1,rings={rings},clock={clock},out={out}");
        let mut program = child("hands_over", Some(&variable));
        program.env("SLABSCOPE_OBJECTS", OBJECTS);
        if name.ends_with("pestered") {
            program.env("SLABSCOPE_PESTER", "1");
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
    handing::hand_over(objects.parse().expect("a number"), pesterer.as_ref());
    if let Some(pesterer) = pesterer {
        println!("{} signals", pesterer.end());
    }
}
