//! A thread that is moved between CPUs at every step, with nobody else about: its events lie in
//! several rings and must come out in its order.

mod support;

use std::hint::black_box;

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

/// The CPUs this process may run on.
fn cpus() -> Vec<usize> {
    // SAFETY: the set is ours to write, and all zero is a set.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        assert_eq!(libc::sched_getaffinity(0, size, &raw mut set), 0);
        (0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &set)).collect()
    }
}

fn move_to(cpu: usize) {
    // SAFETY: the set is ours, and all zero is a set.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        let size = size_of::<libc::cpu_set_t>();
        assert_eq!(libc::sched_setaffinity(0, size, &raw const set), 0);
    }
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn moves() {
    let cpus = cpus();
    for round in 0..20_000 {
        let object = black_box(Box::new([round; 5]));
        move_to(cpus[round % cpus.len()]);
        drop(object);
        if round % 3 == 0 {
            move_to(cpus[(round + 1) % cpus.len()]);
        }
    }
}
