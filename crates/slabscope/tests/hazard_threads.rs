//! Threads that end: with destructors that allocate after their cache is gone, by the thousand, and
//! when the process exits under them.
#![cfg(feature = "recorder")]

mod support;

use std::cell::RefCell;
use std::time::Duration;

use slabscope_wire::alloc_free::EndReason;
use support::workers::Workers;
use support::{Traces, child, replay, succeed};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

/// Allocates when it is destroyed, and again in the destructor of what it makes then.
struct Late(Vec<String>, u32);

thread_local! {
    static LATE: RefCell<Option<Late>> = const { RefCell::new(None) };
    static LATER: RefCell<Option<Late>> = const { RefCell::new(None) };
}

impl Drop for Late {
    fn drop(&mut self) {
        let more: Vec<String> = (0..100).map(|n| format!("late {n}")).collect();
        assert_eq!(more[99], "late 99");
        self.0.extend(more);
        if self.1 > 0 {
            // Registers a destructor anew, which runs after those of the first round.
            let next = Late(vec![String::from("again")], self.1 - 1);
            let _ = LATER.try_with(|later| later.replace(Some(next)));
        }
    }
}

#[test]
fn late_destructors_and_short_lives_are_served_and_traced() {
    let traces = Traces::new();
    let path = traces.path("threads.trace");
    let variable = format!("traceallocfree=1,out={}", path.display());
    succeed(&mut child("short_lives", Some(&variable)));
    let replayed = replay(&path);
    assert_eq!(replayed.lost(), 0);
    let [_, _, _, _, _, _, _, made, gone] = replayed.counts;
    assert!(made >= 2000, "stacks of threads: {made}");
    assert!(made - gone < 10, "{made} made, {gone} gone");
}

#[test]
fn exit_while_threads_allocate_ends_the_trace_whole() {
    for round in 0..10 {
        let traces = Traces::new();
        let path = traces.path(&format!("threads-exit-{round}.trace"));
        let variable = format!("traceallocfree=1,out={}", path.display());
        let output = child("exits", Some(&variable)).output().expect("it starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*stderr), (Some(3), ""));
        let replayed = replay(&path);
        assert_eq!(replayed.lost(), 0);
        let closing = replayed.closing.expect("closing counts");
        assert_eq!(closing.reason, Some(EndReason::Exited));
    }
}

#[test]
fn a_hundred_thousand_threads_leave_nothing_behind() {
    let output = succeed(&mut child("many_lives", None));
    print!("{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn short_lives() {
    for round in 0..500 {
        let threads: Vec<_> = (0..4).map(|n| std::thread::spawn(move || live(round + n))).collect();
        for thread in threads {
            assert!(thread.join().expect("it ends well") > 0);
        }
    }
}

fn live(n: u32) -> usize {
    LATE.with(|late| late.replace(Some(Late(vec![n.to_string()], 2))));
    LATER.with(|later| later.replace(Some(Late(vec![n.to_string()], 1))));
    let numbers: Vec<u32> = (0..n).collect();
    numbers.len() + 1
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn many_lives() {
    let resident = || {
        let text = std::fs::read_to_string("/proc/self/statm").expect("the kernel says");
        text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).expect("a number")
            * 4096
    };
    let run = |count| {
        for n in 0..count {
            std::thread::spawn(move || live(n % 100)).join().expect("it ends well");
        }
    };
    run(1000);
    let before = resident();
    run(100_000);
    let after = resident();
    println!("{before} bytes resident after 1,000 threads, {after} after 100,000 more");
    assert!(after.saturating_sub(before) < 1 << 20, "{before} bytes before, {after} after");
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn exits() {
    extern "C" fn at_exit() {
        let text: Vec<String> = (0..100).map(|n: u32| n.to_string()).collect();
        assert_eq!(text.len(), 100);
    }
    // SAFETY: the function takes nothing and lives as long as the program.
    unsafe { libc::atexit(at_exit) };
    let _workers = Workers::start(4);
    std::thread::sleep(Duration::from_millis(30));
    std::thread::spawn(|| std::process::exit(3)).join().expect("it does not return");
}
