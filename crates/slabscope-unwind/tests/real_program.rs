//! Real programs, with every so many allocations' stacks compared, frame by frame, with those that the
//! `backtrace` crate finds at the same point.

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use support::probe;

/// One allocation in so many is looked at: the other unwinder is slow.
const EVERY: u64 = 23;

thread_local! {
    /// Whether this thread's allocations are looked at. Off while one is.
    static WATCHED: Cell<bool> = const { Cell::new(false) };
}

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static COMPARED: AtomicU64 = AtomicU64::new(0);
static DIFFERENT: AtomicU64 = AtomicU64::new(0);
static FRAMES: AtomicU64 = AtomicU64::new(0);

struct Comparing;

// SAFETY: everything is passed on.
unsafe impl GlobalAlloc for Comparing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if WATCHED.get() && ALLOCATIONS.fetch_add(1, Ordering::Relaxed).is_multiple_of(EVERY) {
            WATCHED.set(false);
            compare();
            WATCHED.set(true);
        }
        // SAFETY: passed on to the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, object: *mut u8, layout: Layout) {
        // SAFETY: passed on to the caller.
        unsafe { System.dealloc(object, layout) };
    }
}

#[global_allocator]
static GLOBAL: Comparing = Comparing;

#[inline(never)]
fn compare() {
    let found = probe(64);
    COMPARED.fetch_add(1, Ordering::Relaxed);
    FRAMES.fetch_add(found.ours.len() as u64, Ordering::Relaxed);
    if !found.is_same() {
        let different = DIFFERENT.fetch_add(1, Ordering::Relaxed);
        if different < 5 {
            println!("ours {:x?}\ntheirs {:x?}", found.ours, found.theirs);
        }
    }
}

/// Runs `program` and compares its stacks.
fn watch(name: &str, program: impl FnOnce()) {
    let before = (COMPARED.load(Ordering::Relaxed), DIFFERENT.load(Ordering::Relaxed));
    drop(probe(64));
    WATCHED.set(true);
    program();
    WATCHED.set(false);
    let compared = COMPARED.load(Ordering::Relaxed) - before.0;
    let different = DIFFERENT.load(Ordering::Relaxed) - before.1;
    println!("{name}: {compared} stacks compared, {different} differ");
    assert!(compared > 1000, "{name}: {compared} stacks");
    assert!(different * 1000 <= compared, "{name}: {different} of {compared} differ");
}

/// The sources of this workspace, as far as they are wanted.
fn sources() -> Vec<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a directory of crates");
    let (mut directories, mut sources) = (vec![crates.to_owned()], Vec::new());
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push(std::fs::read_to_string(path).expect("text"));
            }
        }
    }
    sources.truncate(60);
    sources
}

/// One test, since threads share the counts.
#[test]
fn stacks_of_real_programs_are_those_that_another_unwinder_finds() {
    let sources = sources();
    watch("syn", || {
        for source in &sources {
            let _ = black_box(syn::parse_file(source));
        }
    });
    let rows = sources.iter().flat_map(|source| source.lines()).take(4000);
    let json = serde_json::to_string(&rows.collect::<Vec<_>>()).expect("text");
    let json = format!("[{json},{{\"a\":{{\"b\":[1,2,{{\"c\":\"d\"}}]}}}}]");
    watch("json", || {
        for _ in 0..12 {
            let value: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
            black_box(value.to_string());
        }
    });
    watch("words", || {
        let words = sources.iter().flat_map(|source| source.split_whitespace());
        let mut sorted: Vec<String> = words.clone().map(str::to_uppercase).collect();
        sorted.sort_by_cached_key(|word| word.chars().rev().collect::<String>());
        black_box(words.map(String::from).collect::<BTreeSet<_>>());
    });
    let frames = FRAMES.load(Ordering::Relaxed) / COMPARED.load(Ordering::Relaxed);
    assert!(frames > 8, "{frames} frames on average");
}
