//! A signal handler that allocates and frees, at a high rate, in the middle of everything.
#![cfg(feature = "recorder")]

mod support;

use std::hint::black_box;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::time::Duration;

use support::counting::{Counting, LIVE};
use support::workers::Workers;
use support::{Traces, child, replay, succeed};

#[global_allocator]
static GLOBAL: Counting = Counting(slabscope::Slabscope::new());

static HANDLED: AtomicU64 = AtomicU64::new(0);

/// Handlers that have begun and not ended: one may run on a thread that the test knows nothing of.
static HANDLING: AtomicU64 = AtomicU64::new(0);

/// An object that one run of the handler leaves for the next to free.
static LEFT: AtomicPtr<u64> = AtomicPtr::new(std::ptr::null_mut());

#[test]
fn a_handler_that_allocates_is_served_and_traced() {
    for rings in ["auto", "cas"] {
        let traces = Traces::new();
        let path = traces.path(&format!("signal-{rings}.trace"));
        let variable = format!("rings={rings}");
        succeed(child("signals", Some(&variable)).env("TRACE", &path));
        assert_eq!(replay(&path).lost(), 0);
    }
}

/// What a handler does that interrupts the way into an operation, while the world stands still for a
/// trace to begin, is in the snapshot or has its event: many short traces, each exact by itself.
#[test]
fn traces_begin_and_end_among_handlers() {
    let traces = Traces::new();
    let path = traces.path("signal-many.trace");
    succeed(child("many_traces", None).env("TRACE", &path));
}

extern "C" fn handler(_: i32) {
    HANDLING.fetch_add(1, Ordering::SeqCst);
    let n = HANDLED.fetch_add(1, Ordering::Relaxed);
    let mut own: Vec<u64> = Vec::with_capacity(1 + (n % 50) as usize);
    own.push(n);
    black_box(&own);
    let new = Box::into_raw(Box::new(n));
    let old = LEFT.swap(new, Ordering::AcqRel);
    if !old.is_null() {
        // SAFETY: it came from `Box::into_raw`, and the swap made it ours alone.
        drop(unsafe { Box::from_raw(old) });
    }
    HANDLING.fetch_sub(1, Ordering::SeqCst);
}

/// A timer that sends SIGALRM to the process, so to any of its threads.
fn every(micros: i64) {
    // SAFETY: the handler does what this allocator allows a handler; the structures are ours.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        assert_eq!(libc::sigaction(libc::SIGALRM, &raw const action, std::ptr::null_mut()), 0);
        let interval = libc::timeval { tv_sec: 0, tv_usec: micros };
        let timer = libc::itimerval { it_interval: interval, it_value: interval };
        assert_eq!(libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut()), 0);
    }
}

/// Stops the timer, has a signal that it sent and nobody has taken yet thrown away, and lets handlers end.
fn no_more() {
    // SAFETY: the structure is ours.
    unsafe {
        let never: libc::itimerval = std::mem::zeroed();
        assert_eq!(libc::setitimer(libc::ITIMER_REAL, &raw const never, std::ptr::null_mut()), 0);
        libc::signal(libc::SIGALRM, libc::SIG_IGN);
    }
    while HANDLING.load(Ordering::SeqCst) > 0 {
        std::thread::yield_now();
    }
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn signals() {
    let path = std::env::var_os("TRACE").expect("the parent says where");
    every(50);
    let workers = Workers::start(4);
    for length in [5, 5, 5, 500] {
        slabscope::trace::start_to(&path).expect("a trace");
        // This thread too is interrupted in its operations.
        let begun = std::time::Instant::now();
        let handled = HANDLED.load(Ordering::Relaxed);
        while begun.elapsed() < Duration::from_millis(length)
            || HANDLED.load(Ordering::Relaxed) < handled + 20
        {
            drop(black_box(vec![0_u8; 100]));
        }
        let (live, summary) = workers.still(|_| {
            // Those who stand still take no signals, and none is left for this thread.
            no_more();
            let live = LIVE.load(Ordering::Relaxed);
            (live, slabscope::trace::stop().expect("it was running"))
        });
        assert_eq!(summary.lost, 0);
        let replayed = replay(path.as_ref());
        assert_eq!(replayed.objects.len() as i64, live, "live at the end");
        every(50);
    }
    no_more();
    workers.end();
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn many_traces() {
    let path = std::env::var_os("TRACE").expect("the parent says where");
    let times = std::env::var("SLABSCOPE_TOGGLES").map_or(60, |n| n.parse().expect("a number"));
    every(150);
    let workers = Workers::start(4);
    for round in 0..times {
        slabscope::trace::start_to(&path).expect("a trace");
        drop(black_box(vec![0_u8; 100]));
        let summary = slabscope::trace::stop().expect("it was running");
        assert_eq!(summary.lost, 0, "round {round}");
        replay(path.as_ref());
    }
    no_more();
    workers.end();
}
