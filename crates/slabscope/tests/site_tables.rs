//! What a million call stacks cost, and what becomes of those that no table has room for.

mod support;

use std::hint::black_box;
use std::path::Path;

use slabscope_trace::alloc_free::{AllocFree, GenerationData};
use slabscope_trace::{Kind, Reader};
use support::workers::Random;
use support::{Traces, child, succeed};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

/// The size that is asked for at each of these stacks.
const SIZE: usize = 1237;

#[inline(never)]
fn ask() {
    drop(black_box(Vec::<u8>::with_capacity(black_box(SIZE))));
}

/// Makes one of eight calls, which differ in where they return to.
macro_rules! one_of_eight {
    ($random:expr, $call:expr) => {
        match $random.below(8) {
            0 => (black_box(0), $call, black_box(0)),
            1 => (black_box(1), $call, black_box(1)),
            2 => (black_box(2), $call, black_box(2)),
            3 => (black_box(3), $call, black_box(3)),
            4 => (black_box(4), $call, black_box(4)),
            5 => (black_box(5), $call, black_box(5)),
            6 => (black_box(6), $call, black_box(6)),
            _ => (black_box(7), $call, black_box(7)),
        }
    };
}

/// A tree of calls.
#[derive(Clone, Copy)]
struct Tree {
    /// How deep it is below this.
    depth: u32,
    /// How many nodes there are below one at most.
    width: u64,
}

/// Goes down a tree as a parser does, until memory was asked for so often: each node asks in some
/// places, and then visits some nodes below it.
#[inline(never)]
fn visit(random: &mut Random, tree: Tree, asked: &mut u64, until: u64) {
    for _ in 0..random.below(4) {
        one_of_eight!(random, ask());
        *asked += 1;
    }
    for _ in 0..1 + random.below(tree.width) {
        if tree.depth > 0 && *asked < until {
            let below = Tree { depth: tree.depth - 1, ..tree };
            one_of_eight!(random, visit(random, below, asked, until));
        }
    }
}

/// Memory of the recorder that grows with sites: its tables, and what the drainer notes of them.
fn memory() -> usize {
    let memory = slabscope::stats().recorder().expect("a trace is made");
    memory.tables.resident + memory.drainer.resident
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn trees() {
    let number =
        |name| std::env::var(name).expect("the parent says").parse::<u32>().expect("a number");
    let (until, tree) = (number("ASK").into(), Tree { depth: 40, width: number("WIDTH").into() });
    let (mut random, mut asked) = (Random(0x5eed), 0);
    visit(&mut random, Tree { depth: 2, width: 1 }, &mut asked, until);
    let before = memory();
    while asked < until {
        visit(&mut random, tree, &mut asked, until);
    }
    println!("={}={asked}=", memory() - before);
}

/// What a program asked for, and what its trace has.
#[derive(Debug, Default)]
struct Made {
    /// Bytes that the recorder grew by.
    grown: u64,
    /// Sites with stacks, and their frames.
    sites: u64,
    frames: u64,
    /// Allocations of [`SIZE`] with a stack, and without.
    with_stack: u64,
    without: u64,
    /// As the trace itself says.
    without_told: u64,
}

fn make(path: &Path, ask: u32, width: u32) -> Made {
    let variable = format!("traceallocfree=1,stacks=16,out={}", path.display());
    let mut program = child("trees", Some(&variable));
    let output = succeed(program.env("ASK", ask.to_string()).env("WIDTH", width.to_string()));
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers = text.split('=').skip(1).take(2).map(|part| part.parse().expect("a number"));
    let [grown, asked] = numbers.collect::<Vec<u64>>().try_into().expect("two numbers");
    let bytes = std::fs::read(path).expect("a trace");
    let mut made = Made { grown, ..Made::default() };
    made.read(&bytes);
    assert_eq!(made.with_stack + made.without, asked, "an allocation is missing");
    made
}

impl Made {
    fn read(&mut self, trace: &[u8]) {
        // Whether a site has a stack, for those of the size.
        let mut sites = std::collections::HashMap::new();
        for event in Reader::new(trace).expect("a trace") {
            match event.expect("a whole trace").kind {
                Kind::Sync(sync) => {
                    let data = GenerationData::parse(&sync.experimental);
                    sites = data.sites.iter().map(|s| (s.id, (s.size, s.stack != 0))).collect();
                    let ids = data.sites.iter().filter(|site| site.stack != 0).map(|site| site.id);
                    self.sites = self.sites.max(ids.max().unwrap_or(0));
                    let frames = data.frames.iter().map(|frame| frame.id);
                    self.frames = self.frames.max(frames.max().unwrap_or(0));
                    let told = data.build.iter().find(|(key, _)| key == "without a stack");
                    if let Some((_, told)) = told {
                        self.without_told = told.parse().expect("a number");
                    }
                }
                Kind::Experimental(event) => {
                    let Some(AllocFree::HeapObjectAlloc { ty, .. }) = AllocFree::from_event(&event)
                    else {
                        continue;
                    };
                    match sites.get(&ty) {
                        Some((size, true)) if *size == SIZE as u64 => self.with_stack += 1,
                        Some((size, false)) if *size == SIZE as u64 => self.without += 1,
                        Some(_) => {}
                        None => panic!("an event without a site"),
                    }
                }
                _ => {}
            }
        }
        // Behind the sites that have none.
        self.sites = self.sites.saturating_sub(1 << 20);
    }
}

#[test]
fn a_million_call_stacks_take_less_than_a_hundred_mebibytes() {
    let traces = Traces::new();
    let made = make(&traces.path("million-sites.trace"), 1_200_000, 3);
    let per = |count: u64| made.grown as f64 / count as f64;
    println!("{made:?}: {:.1} bytes a site, {:.1} a frame", per(made.sites), per(made.frames));
    assert!(made.sites >= 1_000_000, "{made:?}");
    // As on syn, where they are two and a half.
    assert!(made.frames * 2 >= made.sites * 5, "{made:?}");
    assert_eq!((made.without, made.without_told), (0, 0));
    assert!(per(made.sites) * 1e6 < f64::from(100 << 20), "{made:?}");
}

#[test]
fn what_has_no_room_has_a_size_and_no_stack_and_is_counted() {
    let traces = Traces::new();
    // Chains share next to nothing: each site takes six frames.
    let made = make(&traces.path("too-many-sites.trace"), 1_000_000, 1);
    println!("{made:?}");
    let table = (1 << 22) - 1024;
    assert!((table - 64..=table).contains(&made.frames), "{made:?}");
    assert!(made.with_stack > 100_000 && made.without > 10_000, "{made:?}");
    // What runs the program may be among them too.
    assert!((made.without..made.without + 1000).contains(&made.without_told), "{made:?}");
    // The tables are full, and the drainer may have had much to catch up with, in buffers of its own.
    assert!(made.grown < 128 << 20, "{made:?}");
}
