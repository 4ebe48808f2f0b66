//! The recorder's memory: reported as its own, and never as the program's.
#![cfg(feature = "recorder")]

mod support;

use std::hint::black_box;
use std::os::unix::fs::MetadataExt;

use support::killed::live_path;
use support::workers::Random;
use support::{Traces, child, replay, succeed};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

/// Bytes of a ring.
const RING: usize = 1 << 20;

fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("the kernel says");
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.expect("a number") * 4096
}

#[test]
fn the_heap_s_figures_are_the_same_with_a_trace_and_without() {
    let traces = Traces::new();
    let path = traces.path("memory.trace");
    let run = |trace: u32| {
        let variable = format!("traceallocfree={trace},out={}", path.display());
        let output = succeed(&mut child("figures", Some(&variable)));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let figures = text.lines().find(|line| line.contains("live=")).expect("the figures");
        figures.split("live=").nth(1).expect("the figures").to_owned()
    };
    assert_eq!(run(1), run(0));
    assert_eq!(replay(&path).lost(), 0);
}

/// Objects of all sizes, some of which are left; and what the heap says then.
#[test]
#[ignore = "run by its parent, in a process of its own"]
fn figures() {
    let mut random = Random(5);
    let mut kept: Vec<Vec<u8>> = Vec::with_capacity(20_001);
    for _ in 0..100_000 {
        kept.push(vec![1; random.size()]);
        if kept.len() > 20_000 {
            kept.swap_remove(random.below(20_000) as usize);
        }
    }
    let stats = slabscope::stats();
    assert_eq!(stats.recorder().is_some(), slabscope::trace::is_running());
    let heap = [stats.live(), stats.cached(), stats.free(), stats.large(), stats.mapped()];
    let classes: Vec<_> = stats.classes().collect();
    println!("live={heap:?} {} {:?} {classes:?}", stats.resident(), stats.stacks());
    black_box(kept);
}

#[test]
fn what_the_recorder_has_is_what_it_costs() {
    let traces = Traces::new();
    let path = traces.path("memory-cost.trace");
    succeed(child("costs", None).env("TRACE", &path));
    replay(&path);
    // Without a file it is the same memory.
    succeed(child("costs", None).env("TRACE", "/dev/null"));
}

#[test]
fn unwind_tables_count_where_there_are_stacks() {
    let traces = Traces::new();
    let path = traces.path("memory-stacks.trace");
    for (stacks, are_there) in [(0, false), (16, true)] {
        let variable = format!("traceallocfree=1,out={},stacks={stacks}", path.display());
        succeed(child("tables", Some(&variable)).env("ARE_THERE", are_there.to_string()));
        assert_eq!(replay(&path).lost(), 0);
        std::fs::remove_file(&path).expect("a trace");
    }
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn tables() {
    let memory = slabscope::stats().recorder().expect("a trace is made");
    let tables = memory.unwind_tables;
    // The C library's alone are larger than that.
    let are_there = tables.mapped > 64 << 10 && tables.resident == tables.mapped;
    assert_eq!(are_there.to_string(), std::env::var("ARE_THERE").expect("the parent says"));
    assert!(are_there || tables == slabscope::Extent::default(), "{tables:?}");
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn costs() {
    let path = std::path::PathBuf::from(std::env::var_os("TRACE").expect("the parent says where"));
    assert_eq!(slabscope::stats().recorder(), None);
    let before = resident();
    slabscope::trace::start_to(&path).expect("a trace");
    // The rings, all around, and the drainer's buffers.
    for n in 0..2_000_000 {
        drop(black_box(vec![1_u8; 1 + n % 100]));
    }
    let memory = slabscope::stats().recorder().expect("a trace is made");
    let grown = resident().saturating_sub(before);
    let parts = [memory.rings, memory.tables, memory.drainer];
    let sum: usize = parts.iter().map(|part| part.resident).sum();
    // A page of the live file may be in memory and not in this process, of a ring nobody uses.
    assert!(sum + (4 << 20) > grown, "{grown} bytes more, and {memory:?}");
    assert!(parts.iter().all(|part| 0 < part.resident && part.resident <= part.mapped));
    let cpus = std::thread::available_parallelism().expect("a number").get();
    assert!(memory.rings.mapped > (cpus + 1) * RING, "{memory:?}");
    let file = std::fs::metadata(live_path(&path)).ok();
    let sizes = file.map(|file| (file.len(), file.blocks() * 512));
    assert_eq!(memory.live_file.map(|file| (file.apparent, file.allocated)), sizes);
    assert_eq!(sizes.is_none(), path.starts_with("/dev"));
    slabscope::trace::stop().expect("it was running");
    assert_eq!(slabscope::stats().recorder(), None);
    let left = resident().saturating_sub(before);
    assert!(left < 1 << 20, "{left} bytes are left of the recorder");
}
