//! An operation of a thread that the trace cannot know yet: its first one finds the world stopped for a
//! fork that waits for it. Its event is nobody's in particular, and must not stand among another's.
#![cfg(feature = "recorder")]

mod support;

use std::ffi::c_void;
use std::hint::black_box;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use support::{Traces, child, replay, succeed, wait};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

/// What a new thread frees while a fork waits for it.
static HANDED_OVER: AtomicPtr<u64> = AtomicPtr::new(null_mut());
static MAY_FREE: AtomicBool = AtomicBool::new(false);
static HAS_FREED: AtomicBool = AtomicBool::new(false);

#[test]
fn what_a_thread_does_that_is_not_known_yet_is_nobody_s() {
    for rings in ["auto", "cas"] {
        let traces = Traces::new();
        let path = traces.path(&format!("unknown-thread-{rings}.trace"));
        let variable = format!("traceallocfree=1,rings={rings},out={}", path.display());
        succeed(&mut child("forks", Some(&variable)));
        let replayed = replay(&path);
        assert_eq!(replayed.lost(), 0);
        assert_eq!(replayed.threads.get(&0).map(String::as_str), Some("unknown"));
    }
}

/// Called before the program's first allocation, so before the allocator's own hooks for `fork` are
/// there: those that are registered first are called last, with the world stopped.
#[used]
// SAFETY: a function that takes nothing it uses and returns may stand here.
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = {
    extern "C" fn register() {
        // SAFETY: the hook does what a hook may.
        unsafe { libc::pthread_atfork(Some(let_it_free), None, None) };
    }
    register
};

extern "C" fn let_it_free() {
    if !HANDED_OVER.load(Ordering::Acquire).is_null() {
        MAY_FREE.store(true, Ordering::Release);
        while !HAS_FREED.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
    }
}

/// A thread whose first operation is to free what it was handed.
extern "C" fn free_when_told(_: *mut c_void) -> *mut c_void {
    while !MAY_FREE.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
    // SAFETY: it came from `Box::into_raw`, and the swap makes it ours alone.
    drop(unsafe { Box::from_raw(HANDED_OVER.swap(null_mut(), Ordering::AcqRel)) });
    HAS_FREED.store(true, Ordering::Release);
    null_mut()
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn forks() {
    for round in 0..50 {
        let mut thread = 0;
        // SAFETY: the thread is joined below.
        let made = unsafe {
            libc::pthread_create(&raw mut thread, std::ptr::null(), free_when_told, null_mut())
        };
        assert_eq!(made, 0);
        HANDED_OVER.store(black_box(Box::into_raw(Box::new(round))), Ordering::Release);
        // SAFETY: the child leaves at once.
        match unsafe { libc::fork() } {
            // SAFETY: _exit has no precondition.
            0 => unsafe { libc::_exit(0) },
            pid => assert_eq!(wait(pid), 0, "round {round}"),
        }
        // SAFETY: it was made above, and is joined once.
        assert_eq!(unsafe { libc::pthread_join(thread, null_mut()) }, 0);
        MAY_FREE.store(false, Ordering::Release);
        HAS_FREED.store(false, Ordering::Release);
    }
}
