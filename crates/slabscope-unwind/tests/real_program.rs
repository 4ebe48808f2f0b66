//! Real programs, with every so many allocations' stacks compared, frame by frame, with those that the
//! `backtrace` crate finds at the same point: those of the benchmarks, and one more. And every allocation's,
//! by its hash, with what is told of it from walks before.

/// The benchmarks' own.
#[path = "../../../benches/src/workloads/programs.rs"]
mod programs;
mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use support::{probe, recall};

/// One allocation in so many is looked at: the other unwinder is slow.
static EVERY: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// Whether this thread's allocations are looked at. Off while one is.
    static WATCHED: Cell<bool> = const { Cell::new(false) };
}

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static COMPARED: AtomicU64 = AtomicU64::new(0);
static DIFFERENT: AtomicU64 = AtomicU64::new(0);
static RECALLED: AtomicU64 = AtomicU64::new(0);
static FRAMES: AtomicU64 = AtomicU64::new(0);

struct Comparing;

// SAFETY: everything is passed on.
unsafe impl GlobalAlloc for Comparing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let every = EVERY.load(Ordering::Relaxed);
        if WATCHED.get() {
            WATCHED.set(false);
            RECALLED.fetch_add(recall(16).into(), Ordering::Relaxed);
            if ALLOCATIONS.fetch_add(1, Ordering::Relaxed).is_multiple_of(every) {
                compare();
            }
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

/// What a program of the benchmarks comes to; here nobody looks.
pub(crate) struct Outcome;

/// Runs the part of a program whose stacks are compared.
pub(crate) fn timed(work: impl FnOnce() -> u64) -> Outcome {
    drop(probe(64));
    WATCHED.set(true);
    black_box(work());
    WATCHED.set(false);
    Outcome
}

/// Mixes a number into a checksum.
pub(crate) fn mix(checksum: u64, number: u64) -> u64 {
    checksum.rotate_left(5) ^ number
}

/// What the programs work on.
pub(crate) mod text {
    pub(crate) use super::sources;

    /// An array of objects of several depths, with the lines of `sources`.
    pub(crate) fn json(sources: &[String]) -> String {
        let rows = sources.iter().flat_map(|source| source.lines()).take(4000);
        let rows = rows.map(|text| {
            let words: Vec<&str> = text.split_whitespace().collect();
            serde_json::json!({ "line": { "text": text, "blank": words.is_empty() }, "words": words })
        });
        serde_json::Value::Array(rows.collect()).to_string()
    }
}

/// Runs `program` and compares the stacks of one allocation in `every`.
fn watch(name: &str, every: u64, program: impl FnOnce() -> Outcome) {
    let before = (COMPARED.load(Ordering::Relaxed), DIFFERENT.load(Ordering::Relaxed));
    EVERY.store(every, Ordering::Relaxed);
    program();
    let compared = COMPARED.load(Ordering::Relaxed) - before.0;
    let different = DIFFERENT.load(Ordering::Relaxed) - before.1;
    println!("{name}: {compared} stacks compared, {different} differ");
    assert!(compared > 500, "{name}: {compared} stacks");
    assert!(different * 1000 <= compared, "{name}: {different} of {compared} differ");
}

/// The sources of this workspace, as far as they are wanted.
pub(crate) fn sources() -> Vec<String> {
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
    watch("json", 23, programs::json);
    watch("syn", 101, programs::syn);
    watch("regex", 101, programs::regex);
    watch("compress", 1, programs::compress);
    watch("sort", 101, programs::sort);
    watch("index", 101, programs::index);
    let sources = sources();
    watch("words", 23, || {
        timed(|| {
            let words = sources.iter().flat_map(|source| source.split_whitespace());
            let mut sorted: Vec<String> = words.clone().map(str::to_uppercase).collect();
            sorted.sort_by_cached_key(|word| word.chars().rev().collect::<String>());
            black_box(words.map(String::from).collect::<BTreeSet<_>>().len() as u64)
        })
    });
    let compared = COMPARED.load(Ordering::Relaxed);
    println!("all: {compared} stacks, {} differ", DIFFERENT.load(Ordering::Relaxed));
    let (recalled, all) = (RECALLED.load(Ordering::Relaxed), ALLOCATIONS.load(Ordering::Relaxed));
    println!("told from walks before: {recalled} of {all}");
    assert!(recalled * 10 > all * 9, "{recalled} of {all}");
    let frames = FRAMES.load(Ordering::Relaxed) / compared;
    assert!(frames > 8, "{frames} frames on average");
}
