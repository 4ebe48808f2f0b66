//! What the programs of `src/bin` run: the same work on each allocator, with the same result.
//!
//! `alloc-NAME WORKLOAD` runs one and prints a checksum, nanoseconds and the peak of resident memory
//! in bytes, then what [`recording`] tells; `alloc-NAME list` prints the names. `cargo xtask bench alloc`
//! and `cargo xtask bench record` compare.

mod batch;
mod churn;
mod grow;
mod maps;
mod pair;
mod programs;
pub mod recording;
mod start;
mod text;
mod threads;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use recording::Recorded;

/// A workload: its name, and what runs it.
pub(crate) type Workload = (&'static str, fn() -> Outcome);

/// All of them, the simplest first.
const ALL: [Workload; 28] = [
    ("pair-16", || pair::run(16, 20_000_000)),
    ("pair-64", || pair::run(64, 20_000_000)),
    ("pair-256", || pair::run(256, 20_000_000)),
    ("pair-1024", || pair::run(1024, 20_000_000)),
    ("pair-4096", || pair::run(4096, 20_000_000)),
    ("pair-64k", || pair::run(65_536, 2_000_000)),
    ("batch-lifo", || batch::run(batch::Order::Lifo)),
    ("batch-fifo", || batch::run(batch::Order::Fifo)),
    ("batch-random", || batch::run(batch::Order::Random)),
    ("churn", churn::run),
    ("churn-cache", churn::in_cache),
    ("churn-cache-1", || threads::churn_in_cache(1)),
    ("churn-cache-2", || threads::churn_in_cache(2)),
    ("grow-vec", grow::vectors),
    ("grow-string", grow::strings),
    ("map-btree", maps::btree),
    ("map-hash", maps::hash),
    ("churn-2", threads::churn_on_two),
    ("remote", threads::remote),
    ("larson", threads::larson),
    ("threads-64", threads::sixty_four),
    ("start", start::run),
    ("json", programs::json),
    ("syn", programs::syn),
    ("regex", programs::regex),
    ("compress", programs::compress),
    ("sort", programs::sort),
    ("index", programs::index),
];

/// Those that are of use only when they are recorded; not listed.
const FOR_RECORDING: [Workload; 2] = [
    ("bursts-cache-1", || threads::bursts_in_cache(1)),
    ("bursts-cache-2", || threads::bursts_in_cache(2)),
];

/// What a workload did and how long it took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// Depends on what was done and on nothing else.
    checksum: u64,
    nanos: u64,
    /// The peak of another process's memory, if that is what is measured.
    peak: Option<u64>,
    /// Nanoseconds that each of its threads took without pauses, where the workload has threads alike.
    each: u64,
    recorded: Recorded,
}

/// Runs `work` and takes its time; what it returns is the checksum.
pub(crate) fn timed(work: impl FnOnce() -> u64) -> Outcome {
    recording::begin();
    let begun = Instant::now();
    let checksum = black_box(work());
    let nanos = begun.elapsed().as_nanos() as u64;
    let recorded = recording::end();
    Outcome { checksum, nanos, peak: None, each: 0, recorded }
}

/// Mixes a number into a checksum.
pub(crate) fn mix(checksum: u64, number: u64) -> u64 {
    (checksum.rotate_left(5) ^ number).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// The program.
pub fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    if name == "list" {
        ALL.iter().for_each(|(name, _)| println!("{name}"));
        return ExitCode::SUCCESS;
    }
    if name == start::TINY {
        let checksum = start::tiny();
        println!("{checksum} 0 {}", peak());
        return ExitCode::SUCCESS;
    }
    let Some((_, run)) = ALL.iter().chain(&FOR_RECORDING).find(|(known, _)| *known == name) else {
        eprintln!("there is no workload {name:?}; `list` lists them");
        return ExitCode::FAILURE;
    };
    let outcome = run();
    let peak = outcome.peak.unwrap_or_else(peak);
    let Outcome {
        checksum,
        nanos,
        each,
        recorded: Recorded { events, lost, bytes, end_nanos },
        ..
    } = outcome;
    println!("{checksum} {nanos} {peak} {each} {events} {lost} {bytes} {end_nanos}");
    ExitCode::SUCCESS
}

/// The most resident memory this process ever had, in bytes, as the kernel tells; what it had before
/// `exec` does not count, unlike in `ru_maxrss`. 0 where the kernel does not say.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    number.unwrap_or_default() * 1024
}
