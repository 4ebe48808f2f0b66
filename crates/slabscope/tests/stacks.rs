//! Call stacks of allocations in a trace, beside those that the `backtrace` crate finds in the same
//! function.
#![cfg(feature = "recorder")]

mod support;

use std::collections::BTreeMap;
use std::ffi::{CString, c_int, c_void};
use std::path::{Path, PathBuf};
use std::time::Duration;

use corosensei::Coroutine;
use slabscope_trace::alloc_free::StackFrame;
use slabscope_wire::alloc_free::frame;
use support::asked::{self, ask, recurse, stacks_of};
use support::{Replayed, Traces, built, child, own_stack, replay, succeed};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

/// Sizes that nothing else asks for.
const SIZES: [(&str, usize); 6] = [
    ("recursion", 70_001),
    ("a thread", 70_003),
    ("a thread on the heap", 70_005),
    ("a coroutine", 70_007),
    ("a callback", 70_009),
    ("a signal handler", 70_011),
];

fn size_of(what: &str) -> usize {
    SIZES.into_iter().find(|size| size.0 == what).expect("one of them").1
}

extern "C" fn compare(a: *const c_void, b: *const c_void) -> c_int {
    ask(size_of("a callback"));
    // SAFETY: `qsort` passes two elements of the array.
    unsafe { (*a.cast::<i32>()).cmp(&*b.cast::<i32>()) as c_int }
}

extern "C" fn handler(_: c_int) {
    recurse(2, &|| ask(size_of("a signal handler")));
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn asks() {
    recurse(5, &|| ask(size_of("recursion")));
    let thread = || assert_ne!(recurse(3, &|| ask(size_of("a thread"))), 0);
    std::thread::spawn(thread).join().unwrap();
    let builder = slabscope::thread::Builder::new().stack_size(256 << 10);
    let thread = || assert_ne!(recurse(3, &|| ask(size_of("a thread on the heap"))), 0);
    builder.spawn(thread).unwrap().join().unwrap();
    let stack = slabscope::stack::Stack::new(256 << 10).unwrap();
    let mut coroutine = Coroutine::<(), (), (), _>::with_stack(stack, |yielder, ()| {
        yielder.suspend(());
        recurse(3, &|| ask(size_of("a coroutine")));
    });
    recurse(1, &|| ());
    let _ = coroutine.resume(());
    let _ = coroutine.resume(());
    let mut numbers = [5, 3, 9, 1];
    // SAFETY: the array has so many elements of that size.
    unsafe { libc::qsort(numbers.as_mut_ptr().cast(), 4, 4, Some(compare)) };
    own_stack::interrupt(handler, 256 << 10);
    asked::write(std::env::var_os("FOUND").expect("the parent says where"));
}

/// What the callback asks for, each once: at once after the library was loaded, and later.
const LOADED_SIZES: [usize; 2] = [70_021, 70_023];

extern "C" fn asks_first() {
    ask(LOADED_SIZES[0]);
}

extern "C" fn asks_later() {
    ask(LOADED_SIZES[1]);
}

/// The first library to load.
fn library() -> PathBuf {
    std::env::var_os("LIBRARY").expect("the parent says where").into()
}

/// Loads a library; returns what ends it, and its function that calls back.
fn load(path: PathBuf) -> (*mut c_void, extern "C" fn(extern "C" fn()) -> u64) {
    let path = CString::new(path.into_os_string().into_encoded_bytes()).expect("no NUL");
    // SAFETY: the library's initialisers are those of Rust's standard library, and the function has
    // this type in `examples/own_copy.rs`.
    unsafe {
        let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        assert!(!library.is_null(), "{path:?} does not load");
        let function = libc::dlsym(library, c"own_copy_call".as_ptr());
        assert!(!function.is_null(), "{path:?} is another");
        (
            library,
            std::mem::transmute::<*mut c_void, extern "C" fn(extern "C" fn()) -> u64>(function),
        )
    }
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn loads() {
    // The library follows the variable as the program does, so that says only how.
    slabscope::trace::start().expect("a trace");
    let (_, call) = load(library());
    assert_eq!(call(asks_first), 1);
    assert_eq!(call(asks_later), 1);
}

/// One library goes and another comes, maybe where the first was. `OTHER` is the second. The recorder
/// looks every hundred times as long as a look takes.
#[test]
#[ignore = "run by its parent, in a process of its own"]
fn unloads() {
    slabscope::trace::start().expect("a trace");
    let other = PathBuf::from(std::env::var_os("OTHER").expect("the parent says where"));
    let (first, call) = load(library());
    assert_eq!(call(asks_first), 1);
    // SAFETY: nobody is inside, and nothing of it is used any more.
    assert_eq!(unsafe { libc::dlclose(first) }, 0);
    let pause = std::env::var("PAUSE_MS").expect("the parent says how long");
    std::thread::sleep(Duration::from_millis(pause.parse().expect("a number")));
    assert_eq!(load(other).1(asks_later), 1);
}

#[test]
fn a_library_that_was_unloaded_is_known_and_told_from_the_next() {
    unload(64);
}

/// With so few frames a thread remembers its walks.
#[test]
fn walks_through_a_library_that_was_unloaded_are_not_remembered() {
    unload(32);
}

fn unload(depth: usize) {
    let traces = Traces::new();
    let path = traces.path(&format!("stacks-unloaded-{depth}.trace"));
    let other = traces.path(&format!("libother-{depth}.so"));
    let library = built::library();
    std::fs::copy(&library, &other).expect("a copy");
    let variable = format!("traceallocfree=0,stacks={depth},out={}", path.display());
    // On a busy machine a look takes long.
    let replayed = [500, 5000, 30_000].iter().find_map(|pause: &u32| {
        let mut unloads = child("unloads", Some(&variable));
        unloads.env("LIBRARY", &library).env("OTHER", &other);
        succeed(unloads.env("PAUSE_MS", pause.to_string()));
        let replayed = replay(&path);
        std::fs::remove_file(&path).expect("a trace");
        Some(replayed).filter(|replayed| replayed.modules.values().any(|m| m.unloaded.is_some()))
    });
    let replayed = replayed.expect("a trace in which a library was unloaded");
    assert_eq!(replayed.lost(), 0);
    let module = |name: &str| {
        let module = replayed.modules.values().find(|module| module.path.ends_with(name));
        module.unwrap_or_else(|| panic!("{name} is a module: {:?}", replayed.modules))
    };
    let (first, second) = (module("libown_copy.so"), module(&format!("libother-{depth}.so")));
    let gone = first.unloaded.expect("it was unloaded");
    assert!(first.loaded.expect("after the start") < gone, "{first:?}");
    assert!(gone <= second.loaded.expect("after the first"), "{second:?}");
    assert_eq!(second.unloaded, None);
    for (module, size) in [first, second].into_iter().zip(LOADED_SIZES) {
        let range = module.first..module.end;
        let inside = |frame: &&StackFrame| range.contains(&frame.lookup_address());
        let stacks = stacks_of(&replayed, size);
        assert!(!stacks.is_empty(), "{size} was asked for");
        for stack in stacks {
            assert_eq!(stack.iter().filter(inside).count(), 1, "{size}: {stack:x?}");
            let last = stack.last().expect("a frame");
            assert!(last.flags == 0 || stack.len() == depth, "{size}: {stack:x?}");
        }
    }
}

/// The very first stack through it too: its thread waits for the drainer to look at the library.
#[test]
fn a_library_that_was_loaded_meanwhile_is_walked_and_named() {
    let traces = Traces::new();
    let path = traces.path("stacks-loaded.trace");
    let variable = format!("traceallocfree=0,stacks=64,out={}", path.display());
    succeed(child("loads", Some(&variable)).env("LIBRARY", built::library()));
    let replayed = replay(&path);
    assert_eq!(replayed.lost(), 0);
    let module = replayed.modules.values().find(|m| m.path.ends_with("libown_copy.so"));
    let module = module.expect("the library is a module");
    assert!(module.loaded.is_some() && module.unloaded.is_none(), "{module:?}");
    let inside = |frame: &&StackFrame| (module.first..module.end).contains(&frame.lookup_address());
    for size in LOADED_SIZES {
        let stacks = stacks_of(&replayed, size);
        assert!(!stacks.is_empty(), "{size} was asked for");
        for stack in stacks {
            assert_eq!(stack.iter().filter(inside).count(), 1, "{stack:x?}");
            assert_eq!(stack.last().expect("a frame").flags, 0, "{size}: {stack:x?}");
        }
    }
}

/// Traces a run of [`asks`] with stacks of `depth` frames.
fn trace(traces: &Traces, depth: usize) -> (Replayed, BTreeMap<u64, Vec<u64>>) {
    let path = traces.path(&format!("stacks-{depth}.trace"));
    let found = traces.path(&format!("stacks-{depth}.txt"));
    let variable = format!("traceallocfree=1,stacks={depth},out={}", path.display());
    succeed(child("asks", Some(&variable)).env("FOUND", &found));
    (replay(&path), asked::read(&found))
}

#[test]
fn stacks_are_those_that_another_unwinder_finds() {
    let traces = Traces::new();
    let (replayed, found) = trace(&traces, 64);
    assert_eq!(replayed.lost(), 0);
    assert!(replayed.build["stacks"].starts_with("64 frames"), "{:?}", replayed.build);
    assert!(!replayed.build.contains_key("without a stack"), "{:?}", replayed.build);
    for (what, size) in SIZES {
        let theirs = &found[&(size as u64)];
        assert!(theirs.len() > 3, "{what}: {theirs:x?}");
        let stacks = stacks_of(&replayed, size);
        let is_theirs = |stack: &&[StackFrame]| {
            let ours: Vec<u64> = stack.iter().map(|frame| frame.address).collect();
            ours.len() > theirs.len() && ours.ends_with(theirs)
        };
        // `qsort` calls back from several places, of which the last was noted.
        assert!(stacks.iter().any(is_theirs), "{what}: ours {stacks:x?}, theirs {theirs:x?}");
        for stack in stacks {
            let last = stack.last().expect("a frame");
            assert_eq!(last.flags & (frame::CUT | frame::TRUNCATED), 0, "{what}: {stack:x?}");
            let exact = stack.iter().filter(|frame| frame.flags & frame::EXACT != 0).count();
            assert_eq!(exact > 0, what == "a signal handler" || what == "a coroutine", "{what}");
        }
    }
}

#[test]
fn stacks_are_cut_to_the_depth_asked_for_and_lie_in_modules() {
    let traces = Traces::new();
    let (replayed, _) = trace(&traces, 4);
    assert_eq!(replayed.lost(), 0);
    for (what, size) in SIZES {
        for stack in stacks_of(&replayed, size) {
            assert_eq!(stack.len(), 4, "{what}");
            assert_eq!(stack[3].flags & (frame::CUT | frame::TRUNCATED), frame::CUT, "{what}");
        }
    }
    let inside = |address: u64| {
        replayed.modules.values().any(|module| (module.first..module.end).contains(&address))
    };
    let frames = replayed.stacks_of.values().flatten();
    assert_eq!(frames.filter(|frame| !inside(frame.lookup_address())).count(), 0);
    let program = std::env::current_exe().unwrap();
    let ours = replayed.modules.values().find(|module| Path::new(&module.path) == program);
    let ours = ours.expect("the program is a module");
    assert_eq!((ours.loaded, ours.unloaded), (None, None));
    assert!(replayed.modules.values().any(|module| module.path.contains("libc.so")));
    assert!(replayed.modules.values().all(|module| module.first < module.end));
}

#[test]
fn without_the_key_there_are_no_stacks() {
    let traces = Traces::new();
    let (replayed, _) = trace(&traces, 0);
    assert!(replayed.stacks_of.is_empty() && replayed.modules.is_empty());
    assert!(!replayed.build.contains_key("stacks"));
}
