//! What a thread remembers of its walks, where what lies on its stack changes in ways that calls and returns
//! do not: each stack is held against the one that the `backtrace` crate found.
#![cfg(all(feature = "recorder", target_arch = "x86_64"))]

mod support;

use std::collections::BTreeSet;
use std::ffi::c_int;
use std::hint::black_box;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use corosensei::Coroutine;
use slabscope::stack::Stack;
use slabscope_trace::alloc_free::StackFrame;
use slabscope_wire::alloc_free::frame;
use support::asked::{self, ask, is_of, recurse, stacks_of};
use support::{Replayed, Traces, child, replay, succeed};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

/// Frames asked for: few enough to be remembered.
const DEPTH: usize = 32;

/// Calls on top of each other, at most.
const DEEP: usize = 7;

const INTERRUPTED: usize = 80_001;
const IN_HANDLER: usize = 81_001;
const THREAD: usize = 82_001;
const BETWEEN: usize = 82_101;
const COROUTINES: [usize; 2] = [83_001, 84_001];
const ON_ONE_STACK: [usize; 2] = [85_001, 86_001];
const UNWINDING: usize = 87_001;
const CAUGHT: usize = 88_001;
const GENERATED: usize = 89_001;
const DIRECT: usize = 89_003;

/// What is asked for at a depth, so that it is told from all others.
#[inline(never)]
fn ask_at(base: usize, depth: usize) {
    recurse(depth, &|| ask(base + 2 * depth));
}

/// Depths, so often each in an order in which each follows each. A list, since of a loop over something else
/// the compiler may make two, which call from two places.
fn depths(times: usize) -> Vec<usize> {
    let once = (0..DEEP).flat_map(|one| (0..DEEP).flat_map(move |other| [one, other]));
    once.collect::<Vec<_>>().repeat(black_box(times))
}

/// Runs a test in a process with a trace, and gives it with what was found besides.
fn trace(name: &str) -> (Replayed, asked::Found) {
    let traces = Traces::new();
    let path = traces.path(&format!("memo-{name}.trace"));
    let found = path.with_extension("txt");
    let variable = format!("traceallocfree=1,stacks={DEPTH},out={}", path.display());
    succeed(child(name, Some(&variable)).env("FOUND", &found));
    let replayed = replay(&path);
    assert_eq!(replayed.lost(), 0);
    (replayed, asked::read(&found))
}

fn end() {
    asked::write(std::env::var_os("FOUND").expect("the parent says where"));
}

/// Each size from `base` on has the stack that was found, and no other.
fn assert_found(replayed: &Replayed, found: &asked::Found, base: usize) {
    for size in (0..DEEP).map(|depth| base + 2 * depth) {
        let callers = found.get(&(size as u64)).unwrap_or_else(|| panic!("{size} was asked for"));
        let stacks = stacks_of(replayed, size);
        assert!(!stacks.is_empty(), "{size} was asked for");
        for stack in stacks {
            assert!(is_of(stack, callers), "{size}: ours {stack:x?}, theirs {callers:x?}");
        }
    }
}

static HANDLED: AtomicU32 = AtomicU32::new(0);

extern "C" fn handler(_: c_int) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
    drop(black_box(Vec::<u8>::with_capacity(black_box(IN_HANDLER))));
}

/// Interrupts the calling thread again and again, until the handler ran so often.
fn interrupt(times: u32) -> std::thread::JoinHandle<()> {
    // SAFETY: it only names the calling thread.
    let thread = unsafe { libc::pthread_self() };
    // SAFETY: the handler does what this allocator allows a handler.
    unsafe { libc::signal(libc::SIGALRM, handler as *const () as usize) };
    std::thread::spawn(move || {
        while HANDLED.load(Ordering::Relaxed) < times {
            // SAFETY: the thread waits for this one before it ends.
            unsafe { libc::pthread_kill(thread, libc::SIGALRM) };
            std::thread::sleep(Duration::from_micros(30));
        }
    })
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn interrupted() {
    let once = depths(1).len();
    let mut interrupting = None;
    for (number, depth) in depths(10_000).into_iter().enumerate() {
        if number == once {
            // The other unwinder was not to be interrupted.
            interrupting = Some(interrupt(1000));
        }
        ask_at(INTERRUPTED, depth);
    }
    interrupting.expect("it was begun").join().expect("it ends well");
    end();
}

#[test]
fn walks_that_a_walk_interrupts() {
    let (replayed, found) = trace("interrupted");
    assert_found(&replayed, &found, INTERRUPTED);
    let handled = stacks_of(&replayed, IN_HANDLER);
    assert!(handled.len() > 3, "{} places were interrupted", handled.len());
    for stack in handled {
        // Who is interrupted in a restartable sequence is led out of it first, to code without a rule.
        let last = stack[stack.len() - 1];
        let is_cut = last.flags & frame::TRUNCATED != 0;
        assert!(!is_cut || last.flags & frame::EXACT != 0, "{stack:x?}");
    }
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn switches() {
    let coroutine = |base: usize| {
        let stack = Stack::new(256 << 10).expect("memory for a stack");
        Coroutine::<usize, (), (), Stack>::with_stack(stack, move |yielder, mut depth| {
            loop {
                recurse(depth, &|| {
                    ask(base + 2 * depth);
                    yielder.suspend(());
                    ask(base + 2 * DEEP + 2 * depth);
                });
                depth = yielder.suspend(());
            }
        })
    };
    let mut coroutines = COROUTINES.map(coroutine);
    for depth in depths(20) {
        ask_at(THREAD, depth);
        for coroutine in &mut coroutines {
            let _ = coroutine.resume(depth);
            ask_at(BETWEEN, DEEP - 1 - depth);
        }
        for coroutine in &mut coroutines {
            let _ = coroutine.resume(depth);
        }
    }
    // SAFETY: what lies on their stacks needs no end.
    coroutines.iter_mut().for_each(|coroutine| unsafe { coroutine.force_reset() });
    end();
}

#[test]
fn walks_on_the_stacks_of_coroutines_in_turns() {
    let (replayed, found) = trace("switches");
    assert_found(&replayed, &found, THREAD);
    assert_found(&replayed, &found, BETWEEN);
    for base in COROUTINES {
        assert_found(&replayed, &found, base);
        assert_found(&replayed, &found, base + 2 * DEEP);
    }
}

/// Works, and says where its stack is.
fn small_frame() -> usize {
    for depth in depths(1) {
        ask_at(ON_ONE_STACK[0], depth);
    }
    (&raw const *black_box(&mut [0_u8])).addr() >> 16
}

fn large_frame() -> usize {
    let large = black_box([0_u64; 100]);
    for depth in depths(1) {
        ask_at(ON_ONE_STACK[1], depth);
    }
    (&raw const large).addr() >> 16
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn threads() {
    let mut stacks = BTreeSet::new();
    // More than can remember at a time.
    for work in (0..300).flat_map(|_| [small_frame as fn() -> usize, large_frame]) {
        stacks.insert(std::thread::spawn(work).join().expect("it ends well"));
    }
    assert!(stacks.len() < 100, "{} stacks of 600 threads", stacks.len());
    end();
}

#[test]
fn walks_of_threads_on_the_stack_of_another_before() {
    let (replayed, found) = trace("threads");
    ON_ONE_STACK.into_iter().for_each(|base| assert_found(&replayed, &found, base));
}

/// Asks when it is dropped.
struct Asks(usize);

impl Drop for Asks {
    fn drop(&mut self) {
        ask(self.0);
    }
}

#[inline(never)]
fn fall(depth: usize) {
    let _asks = Asks(UNWINDING + 2 * depth);
    if depth == 0 {
        resume_unwind(Box::new(()));
    }
    fall(depth - 1);
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn falls() {
    for depth in depths(20) {
        ask_at(CAUGHT, depth);
        // Always from the deepest, so that each size has one stack.
        assert!(catch_unwind(|| fall(DEEP - 1)).is_err());
    }
    end();
}

#[test]
fn walks_while_a_panic_unwinds() {
    let (replayed, found) = trace("falls");
    assert_found(&replayed, &found, CAUGHT);
    assert_found(&replayed, &found, UNWINDING);
}

extern "C" fn ask_from_generated() {
    drop(black_box(Vec::<u8>::with_capacity(black_box(GENERATED))));
}

/// A page of code that no module has.
struct Generated(*mut u8);

impl Generated {
    const LEN: usize = 4096;

    fn new() -> Generated {
        let access = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping.
        let page = unsafe { libc::mmap(std::ptr::null_mut(), Self::LEN, access, kind, -1, 0) };
        assert_ne!(page, libc::MAP_FAILED);
        Generated(page.cast())
    }

    /// A function that calls its argument, with a frame of another size.
    fn write(&self, with_room: bool) -> extern "C" fn(extern "C" fn()) {
        // push rbp; mov rbp, rsp; sub rsp, 0 or 64; call rdi; leave; ret
        let room = if with_room { 64 } else { 0 };
        let code = [0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, room, 0xff, 0xd7, 0xc9, 0xc3];
        // SAFETY: the page is writable and executable, and has such a function then.
        unsafe {
            std::ptr::copy_nonoverlapping(code.as_ptr(), self.0, code.len());
            std::mem::transmute::<*mut u8, extern "C" fn(extern "C" fn())>(self.0)
        }
    }
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn generates() {
    let page = Generated::new();
    for round in 0..500 {
        page.write(round % 2 == 0)(ask_from_generated);
        ask(DIRECT);
    }
    end();
}

#[test]
fn walks_through_code_that_is_generated() {
    let (replayed, found) = trace("generates");
    let direct = stacks_of(&replayed, DIRECT);
    assert!(
        !direct.is_empty() && direct.iter().all(|stack| is_of(stack, &found[&(DIRECT as u64)]))
    );
    let generated = stacks_of(&replayed, GENERATED);
    assert!(!generated.is_empty());
    for stack in generated {
        let last = stack[stack.len() - 1];
        assert_eq!(last.flags & frame::TRUNCATED, frame::TRUNCATED, "{stack:x?}");
        let inside = |frame: &StackFrame| {
            let address = frame.lookup_address();
            replayed.modules.values().any(|module| (module.first..module.end).contains(&address))
        };
        assert!(!inside(&last) && stack[..stack.len() - 1].iter().all(inside), "{stack:x?}");
    }
}
