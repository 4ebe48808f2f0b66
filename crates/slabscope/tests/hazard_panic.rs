//! Panics while a trace is made: what is printed of them, call stack and all, allocates a great deal
//! in odd places. Caught, they leave the trace exact; where they end the program, it can be finished.
#![cfg(feature = "recorder")]

mod support;

use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use slabscope_wire::alloc_free::EndReason;
use support::counting::{Counting, LIVE};
use support::killed::finish;
use support::workers::Workers;
use support::{Traces, child, replay, succeed};

#[global_allocator]
static GLOBAL: Counting = Counting(slabscope::Slabscope::new());

fn program(name: &str, variable: &str) -> Command {
    let mut command = child(name, Some(variable));
    command.env("RUST_BACKTRACE", "full");
    command
}

#[test]
fn panics_that_are_caught_leave_the_trace_exact() {
    for rings in ["auto", "cas"] {
        let traces = Traces::new();
        let path = traces.path(&format!("panic-{rings}.trace"));
        let output = succeed(program("catches", &format!("rings={rings}")).env("TRACE", &path));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.matches("stack backtrace:").count() >= 40, "{stderr}");
    }
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn catches() {
    let path = std::env::var_os("TRACE").expect("the parent says where");
    let workers = Workers::start(2);
    slabscope::trace::start_to(&path).expect("a trace");
    let panicking: Vec<_> =
        (0..4).map(|index| std::thread::spawn(move || panic_often(index))).collect();
    for thread in panicking {
        assert!(thread.join().is_err(), "the last one ends the thread");
    }
    let (live, summary) = workers.still(|_| {
        use std::sync::atomic::Ordering;
        (LIVE.load(Ordering::Relaxed), slabscope::trace::stop().expect("it was running"))
    });
    assert_eq!(summary.lost, 0);
    let replayed = replay(path.as_ref());
    assert_eq!(replayed.objects.len() as i64, live, "live at the end");
    workers.end();
}

fn panic_often(index: usize) {
    for n in 0..10 {
        let kept = vec![n; 1000];
        let caught = std::panic::catch_unwind(move || {
            assert!(kept.len() == index, "{kept:?}");
        });
        assert!(caught.is_err());
    }
    std::panic::resume_unwind(Box::new("the last one"));
}

#[test]
fn a_panic_that_aborts_leaves_a_trace_to_finish() {
    for rings in ["auto", "cas"] {
        let traces = Traces::new();
        let path = traces.path(&format!("panic-abort-{rings}.trace"));
        let variable = format!("traceallocfree=1,rings={rings},out={}", path.display());
        let output = program("cannot_unwind", &variable).output().expect("it starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{stderr}");
        assert!(stderr.contains("the one that ends it"), "{stderr}");
        finish(&path);
        let replayed = replay(&path);
        assert_eq!((replayed.lost(), replayed.reason()), (0, Some(EndReason::Killed)));
        assert!(replayed.sites.values().any(|&(size, _)| size == 70_007), "before the panic");
    }
}

/// As with `panic=abort`: the message is printed, and the process aborts where the panic began.
#[test]
#[ignore = "run by its parent, in a process of its own"]
fn cannot_unwind() {
    extern "C" fn no_further() {
        panic!("the one that ends it");
    }
    let _workers = Workers::start(2);
    drop(std::hint::black_box(vec![1_u8; 70_007]));
    no_further();
}
