//! A thread that is moved between CPUs at every step, with nobody else about: its events lie in
//! several rings and must come out in its order.
#![cfg(feature = "recorder")]

mod support;

use std::hint::black_box;

use support::pester::{cpus, move_to};
use support::{Traces, child, replay, succeed};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

#[test]
fn events_of_a_thread_that_moves_stay_in_order() {
    for rings in ["auto", "cas"] {
        let traces = Traces::new();
        let path = traces.path(&format!("migration-{rings}.trace"));
        let variable = format!("traceallocfree=1,rings={rings},out={}", path.display());
        succeed(&mut child("moves", Some(&variable)));
        let replayed = replay(&path);
        assert_eq!(replayed.lost(), 0);
        assert!(replayed.counts[4] >= 20_000);
    }
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn moves() {
    let cpus = cpus();
    for round in 0..20_000 {
        let object = black_box(Box::new([round; 5]));
        move_to(0, cpus[round % cpus.len()]);
        drop(object);
        if round % 3 == 0 {
            move_to(0, cpus[(round + 1) % cpus.len()]);
        }
    }
}
