//! Stacks as we walk them, beside those that the `backtrace` crate finds at the same point.

mod support;

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use slabscope_wire::alloc_free::frame;
use support::{Probe, probe};

/// Calls itself, and the probe at the end.
#[inline(never)]
fn recurse(depth: usize, keep: &mut [u64]) -> Probe {
    let local = [depth as u64; 7];
    let found = if depth == 0 { probe(64) } else { recurse(depth - 1, keep) };
    keep[depth % keep.len()] = std::hint::black_box(&local).iter().sum();
    found
}

#[test]
fn recursion_is_walked_to_the_thread_s_start() {
    for depth in [0, 1, 5, 20] {
        let found = recurse(depth, &mut [0; 3]);
        found.assert_same();
        assert!(found.ours.len() > depth);
        assert_eq!(
            found.last_flags() & (frame::CUT | frame::TRUNCATED),
            0,
            "it ends where it begins"
        );
    }
}

#[test]
fn a_deep_stack_is_cut_and_says_so() {
    let found = recurse(200, &mut [0; 3]);
    assert_eq!(found.ours.len(), 64);
    found.assert_same();
    assert_eq!(found.last_flags() & (frame::CUT | frame::TRUNCATED), frame::CUT);
}

static SORTED: std::sync::Mutex<Vec<Probe>> = std::sync::Mutex::new(Vec::new());

extern "C" fn compare(a: *const c_void, b: *const c_void) -> c_int {
    SORTED.lock().unwrap().push(probe(64));
    // SAFETY: `qsort` passes two elements of the array.
    let (a, b) = unsafe { (*a.cast::<i32>(), *b.cast::<i32>()) };
    a.cmp(&b) as c_int
}

#[test]
fn a_callback_from_c_is_walked_through_c() {
    let mut numbers = [5, 3, 9, 1, 7, 2];
    // SAFETY: the array has so many elements of that size.
    unsafe { libc::qsort(numbers.as_mut_ptr().cast(), 6, 4, Some(compare)) };
    assert_eq!(numbers, [1, 2, 3, 5, 7, 9]);
    let sorted = std::mem::take(&mut *SORTED.lock().unwrap());
    assert!(sorted.len() >= 6);
    for found in sorted {
        found.assert_same();
        assert_eq!(found.last_flags() & (frame::CUT | frame::TRUNCATED), 0);
    }
}

static SIGNALLED: std::sync::Mutex<Option<Probe>> = std::sync::Mutex::new(None);

extern "C" fn handler(_: c_int) {
    *SIGNALLED.lock().unwrap() = Some(probe(64));
}

/// Where the signal comes: a loop that waits for it.
#[inline(never)]
fn interrupted(on_own_stack: bool) -> Probe {
    let mut stack = vec![0_u8; 256 << 10];
    // SAFETY: the handler does nothing that may not be done while this thread waits; the stack
    // outlives its use.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        if on_own_stack {
            action.sa_flags = libc::SA_ONSTACK;
            let alternate = libc::stack_t {
                ss_sp: stack.as_mut_ptr().cast(),
                ss_flags: 0,
                ss_size: stack.len(),
            };
            assert_eq!(libc::sigaltstack(&raw const alternate, std::ptr::null_mut()), 0);
        }
        assert_eq!(libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()), 0);
        libc::pthread_kill(libc::pthread_self(), libc::SIGUSR1);
    }
    SIGNALLED.lock().unwrap().take().expect("the handler ran")
}

#[test]
fn a_signal_handler_is_walked_into_what_it_interrupted() {
    for on_own_stack in [false, true] {
        let found = std::thread::spawn(move || interrupted(on_own_stack)).join().unwrap();
        found.assert_same();
        let exact = found.ours.iter().filter(|frame| frame.flags() & frame::EXACT != 0).count();
        assert_eq!(exact, 1, "{:x?}", found.ours);
        assert_eq!(found.last_flags() & (frame::CUT | frame::TRUNCATED), 0);
    }
}

static BARE: AtomicUsize = AtomicUsize::new(0);

// Calls its argument and says nothing of how to unwind it. Its frame pointer is garbage.
std::arch::global_asm!(
    ".pushsection .text.bare, \"ax\"",
    ".globl slabscope_test_bare",
    "slabscope_test_bare:",
    "push rbp",
    "push rbx",
    "push rbx",
    "mov rbp, 0x123456789",
    "call rdi",
    "pop rbx",
    "pop rbx",
    "pop rbp",
    "ret",
    ".popsection",
);

unsafe extern "C" {
    fn slabscope_test_bare(callback: extern "C" fn());
}

extern "C" fn callback() {
    let found = probe(64);
    assert_eq!(found.ours.len(), 2, "the callback's callers: {:x?}", found.ours);
    assert_eq!(found.last_flags() & frame::TRUNCATED, frame::TRUNCATED);
    BARE.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn code_without_tables_ends_the_stack_and_says_so() {
    // SAFETY: it keeps the registers that a function has to, and calls its argument.
    unsafe { slabscope_test_bare(callback) };
    assert_eq!(BARE.load(Ordering::Relaxed), 1);
}
