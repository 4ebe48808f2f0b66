//! Scopes that declare types: each allocation has the type of its own thread's innermost scope.
#![cfg(feature = "recorder")]

mod support;

use std::future::Future;
use std::hint::black_box;
use std::panic::catch_unwind;
use std::pin::{Pin, pin};
use std::process::Stdio;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use slabscope::{type_name, typed};
use support::killed::finish;
use support::workers::Random;
use support::{Replayed, Traces, child, replay, succeed};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

struct Outer;
struct Inner<T>(T);

/// The lowest of the sizes that nothing else asks for: a step of the program asks for this and its number.
const FIRST: usize = 80_000;

/// What each step's memory is declared to be.
const EXPECTED: [(usize, Option<&str>); 18] = [
    (0, None),
    (1, Some("typed::Outer")),
    (2, Some("typed::Inner<alloc::vec::Vec<u8>>")),
    (3, Some("typed::Outer")),
    (4, None),
    (5, Some("in a panic")),
    (6, Some("around a panic")),
    (7, None),
    (8, None),
    (9, Some("of a thread")),
    (10, Some("typed::Outer")),
    (11, Some("\u{1b}[31m\0\n\u{7}")),
    (13, None),
    (14, Some("around a signal")),
    (15, Some("in a handler")),
    (16, Some("around a signal")),
    (17, Some("of a poll")),
    (18, None),
];

/// A step that has a name too long to keep.
const LONG: usize = 12;

#[inline(never)]
fn ask(step: usize) {
    drop(black_box(Vec::<u8>::with_capacity(black_box(FIRST + step))));
}

extern "C" fn handler(_: i32) {
    ask(14);
    type_name("in a handler", || ask(15));
}

/// Asks in a scope at each poll, and is ready at the third.
struct Polled(u32);

impl Future for Polled {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        self.0 += 1;
        type_name("of a poll", || ask(17));
        if self.0 == 3 { Poll::Ready(()) } else { Poll::Pending }
    }
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn steps() {
    ask(0);
    typed::<Outer, _>(|| {
        ask(1);
        typed::<Inner<Vec<u8>>, _>(|| ask(2));
        ask(3);
    });
    ask(4);
    type_name("around a panic", || {
        let unwound = catch_unwind(|| {
            type_name("in a panic", || {
                ask(5);
                panic!("on purpose");
            })
        });
        assert!(unwound.is_err());
        ask(6);
    });
    ask(7);
    typed::<Outer, _>(|| {
        let thread = std::thread::spawn(|| {
            ask(8);
            type_name("of a thread", || ask(9));
            ask(8);
        });
        thread.join().unwrap();
        ask(10);
    });
    type_name("\u{1b}[31m\0\n\u{7}", || ask(11));
    type_name(String::from("x\u{e4}").repeat(700).leak(), || ask(LONG));
    typed::<Outer, _>(|| type_name("", || ask(13)));
    // SAFETY: the handler allocates, which the allocator takes from handlers.
    unsafe { libc::signal(libc::SIGUSR1, handler as *const () as libc::sighandler_t) };
    type_name("around a signal", || {
        // SAFETY: the signal has a handler, and comes before this returns.
        unsafe { libc::raise(libc::SIGUSR1) };
        ask(16);
    });
    let mut polled = pin!(Polled(0));
    while polled.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
        ask(18);
    }
}

/// The declared types of a step's sites.
fn declared(replayed: &Replayed, step: usize) -> Vec<Option<&str>> {
    let sites = replayed.sites.iter().filter(|site| site.1.0 == (FIRST + step) as u64);
    sites.map(|(site, _)| replayed.declared.get(site).map(|name| &**name)).collect()
}

#[test]
fn each_allocation_has_the_type_of_its_scope() {
    let traces = Traces::new();
    for (stacks, rings) in [(0, "auto"), (8, "auto"), (0, "cas")] {
        let path = traces.path(&format!("typed-{stacks}-{rings}.trace"));
        let out = path.display();
        let variable = format!("traceallocfree=1,stacks={stacks},rings={rings},out={out}");
        // A call stack printed for the panic would read debug information, in buffers of any size.
        succeed(child("steps", Some(&variable)).env("RUST_BACKTRACE", "0"));
        let replayed = replay(&path);
        for (step, expected) in EXPECTED {
            let found = declared(&replayed, step);
            assert!(!found.is_empty(), "{step}: nothing was allocated");
            assert!(found.iter().all(|found| *found == expected), "{step}: {found:?}");
        }
        let long = declared(&replayed, LONG);
        let [Some(name)] = long[..] else { panic!("{long:?}") };
        assert_eq!((name.len(), name), (1024, &*("x\u{e4}".repeat(341) + "x")));
        assert_eq!(replayed.stacks_of.is_empty(), stacks == 0);
        assert!(!replayed.build.contains_key("without their type"));
    }
}

#[test]
fn a_scope_has_its_name_in_each_trace_that_it_sees() {
    let traces = Traces::new();
    let paths = [traces.path("typed-first.trace"), traces.path("typed-second.trace")];
    succeed(child("two_traces", None).env("TRACES", paths[0].parent().unwrap()));
    for (path, step) in paths.iter().zip([1, 2]) {
        assert_eq!(declared(&replay(path), step), [Some("of two traces")]);
    }
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn two_traces() {
    let directory = std::path::PathBuf::from(std::env::var_os("TRACES").unwrap());
    type_name("of two traces", || {
        for (name, step) in [("typed-first.trace", 1), ("typed-second.trace", 2)] {
            // The second has other names before this one.
            slabscope::trace::start_to(directory.join(name)).unwrap();
            (1..step).for_each(|_| type_name("another", || ask(3)));
            ask(step);
            slabscope::trace::stop().unwrap();
        }
    });
}

/// Names that the program declares until it is killed: there is room for that many.
const NAMES: usize = 50_000;

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn names_without_end() {
    for number in (0..NAMES).chain(std::iter::repeat(NAMES)) {
        let name = format!("type {number}").leak();
        type_name(name, || ask(number));
        if number == 0 {
            std::fs::write(std::env::var_os("BEGUN").unwrap(), "").unwrap();
        }
    }
}

#[test]
fn a_killed_program_leaves_its_types() {
    let (traces, mut random) = (Traces::new(), Random(7));
    let mut seen = 0;
    for round in 0..8 {
        let path = traces.path("typed-kill.trace");
        let begun = path.with_extension(format!("begun{round}"));
        let stacks = [0, 8][round % 2];
        let variable = format!("traceallocfree=1,stacks={stacks},out={}", path.display());
        let mut command = child("names_without_end", Some(&variable));
        let mut program = command.env("BEGUN", &begun).stdout(Stdio::null()).spawn().unwrap();
        while !begun.exists() {
            assert_eq!(program.try_wait().unwrap(), None, "it ended by itself");
            std::thread::sleep(Duration::from_micros(100));
        }
        std::thread::sleep(Duration::from_micros(random.below(40_000)));
        program.kill().unwrap();
        program.wait().unwrap();
        finish(&path);
        let replayed = replay(&path);
        let sizes = (FIRST as u64)..(FIRST + NAMES) as u64;
        for (site, (size, _)) in replayed.sites.iter().filter(|site| sizes.contains(&site.1.0)) {
            let name = format!("type {}", size - FIRST as u64);
            assert_eq!(replayed.declared.get(site), Some(&name));
            seen += 1;
        }
    }
    assert!(seen > 8, "{seen}");
}
