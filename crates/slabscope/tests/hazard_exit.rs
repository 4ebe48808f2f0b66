//! The ways in which a process ends, and what each leaves of its trace: an end where handlers run, a
//! trace to finish where they do not.
#![cfg(feature = "recorder")]

mod support;

use std::process::Stdio;
use std::sync::atomic::{AtomicPtr, Ordering};

use slabscope_wire::alloc_free::EndReason;
use support::killed::{finish, live_path};
use support::workers::Workers;
use support::{Replayed, child, names, replay};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

/// Runs the program `name` with a trace; its status, and the trace, finished if it had to be. All
/// events are in it but `interrupted` ones, whose operations never come to their end.
fn run(name: &str, interrupted: u64) -> (std::process::ExitStatus, Replayed) {
    let mut last = None;
    for rings in ["auto", "cas"] {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("exit.trace");
        let variable = format!("traceallocfree=1,rings={rings},out={}", path.display());
        let mut command = child(name, Some(&variable));
        let output = command.stdout(Stdio::null()).output().expect("it starts");
        let ended = !live_path(&path).exists();
        if !ended {
            finish(&path);
        }
        assert_eq!(names(directory.path()), ["exit.trace"]);
        let replayed = replay(&path);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(replayed.lost() <= interrupted, "{name}: {}: {stderr}", replayed.lost());
        assert_eq!(ended, replayed.reason() == Some(EndReason::Exited), "{name}");
        assert!(replayed.counts[4] > 1000, "{name}: {:?}", replayed.counts);
        last = Some((output.status, replayed));
    }
    last.expect("it was run")
}

/// Whether an allocation of this size, which nobody makes by accident, is in the trace.
fn has(replayed: &Replayed, size: u64) -> bool {
    replayed.sites.values().any(|&(asked, _)| asked == size)
}

fn mark(size: usize) {
    drop(std::hint::black_box(vec![1_u8; size]));
}

#[test]
fn exit_from_any_thread_ends_the_trace() {
    let (status, trace) = run("exits_from_a_thread", 0);
    assert_eq!((status.code(), trace.reason()), (Some(3), Some(EndReason::Exited)));
    assert!(has(&trace, 70_001));
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn exits_from_a_thread() {
    let _workers = Workers::start(3);
    let _ = std::thread::spawn(|| {
        work();
        mark(70_001);
        std::process::exit(3);
    })
    .join();
}

#[test]
fn a_handler_that_exits_does_not_keep_the_trace_from_its_end() {
    let (status, trace) = run("exits_in_a_handler", 0);
    assert_eq!((status.code(), trace.reason()), (Some(5), Some(EndReason::Exited)));
    // Handlers run from the last to the first: the one that came after ours is still traced.
    assert_eq!((has(&trace, 70_002), has(&trace, 70_003)), (true, false));
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn exits_in_a_handler() {
    extern "C" fn traced() {
        mark(70_002);
        // The standard library's `exit` refuses a second time.
        // SAFETY: the handlers that are left are made for it.
        unsafe { libc::exit(4) };
    }
    let _workers = Workers::start(3);
    work();
    // SAFETY: the function lives as long as the program.
    assert_eq!(unsafe { libc::atexit(traced) }, 0);
    std::process::exit(2);
}

/// Registered before the first allocation, so it runs after the handler that ends the trace.
extern "C" fn late() {
    mark(70_003);
    if std::env::args().any(|argument| argument == "exits_in_a_handler") {
        // SAFETY: as in `exits_in_a_handler`.
        unsafe { libc::exit(5) };
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static EARLY: extern "C" fn() = {
    extern "C" fn early() {
        // SAFETY: the function lives as long as the program.
        unsafe { libc::atexit(late) };
    }
    early
};

#[test]
fn underscore_exit_leaves_a_trace_to_finish() {
    let (status, trace) = run("leaves_by_underscore_exit", 0);
    assert_eq!((status.code(), trace.reason()), (Some(6), Some(EndReason::Killed)));
    assert!(has(&trace, 70_004));
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn leaves_by_underscore_exit() {
    let _workers = Workers::start(3);
    work();
    mark(70_004);
    // SAFETY: _exit has no precondition.
    unsafe { libc::_exit(6) };
}

#[test]
fn abort_leaves_a_trace_to_finish() {
    use std::os::unix::process::ExitStatusExt;
    let (status, trace) = run("aborts", 0);
    assert_eq!((status.signal(), trace.reason()), (Some(libc::SIGABRT), Some(EndReason::Killed)));
    assert!(has(&trace, 70_005));
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn aborts() {
    let _workers = Workers::start(3);
    work();
    mark(70_005);
    std::process::abort();
}

#[test]
fn exit_in_a_signal_handler_ends_the_trace() {
    // Whatever it interrupted, an operation too.
    for _ in 0..10 {
        let (status, trace) = run("exits_in_a_signal_handler", 1);
        assert_eq!((status.code(), trace.reason()), (Some(8), Some(EndReason::Exited)));
        assert!(has(&trace, 70_006));
    }
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn exits_in_a_signal_handler() {
    static LEFT: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
    extern "C" fn handler(_: i32) {
        LEFT.store(Box::into_raw(Box::new(1)), Ordering::Relaxed);
        mark(70_006);
        std::process::exit(8);
    }
    let _workers = Workers::start(2);
    work();
    let timer = libc::itimerval {
        it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
        it_value: libc::timeval { tv_sec: 0, tv_usec: 2000 },
    };
    // SAFETY: the handler does what this allocator allows a handler; the timer is ours.
    unsafe {
        libc::signal(libc::SIGALRM, handler as *const () as libc::sighandler_t);
        assert_eq!(libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut()), 0);
    }
    loop {
        work();
    }
}

fn work() {
    let kept: Vec<String> = (0..2000).map(|n| n.to_string()).collect();
    drop(std::hint::black_box(kept));
}
