//! Counts the events of a trace and says how fast they were read: `count FILE [THREADS]`.
//!
//! So many other threads decode ahead: those of the machine where nothing is said, none for 0.

use std::num::NonZero;
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use slabscope_trace::alloc_free::AllocFree;
use slabscope_trace::{Error, Reader, Run};

#[derive(Default)]
struct Counts {
    events: u64,
    allocations: u64,
    frees: u64,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        eprintln!("count: which file?");
        return ExitCode::from(2);
    };
    let threads = arguments.next().and_then(|threads| threads.parse().ok());
    let threads =
        threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZero::get));
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("count: {path}: {error}");
            return ExitCode::from(2);
        }
    };
    let begun = Instant::now();
    let counted = match NonZero::new(threads) {
        Some(threads) => Reader::ahead(&bytes, threads, count).flatten(),
        None => Reader::new(&bytes).and_then(count),
    };
    match counted {
        Ok(Counts { events, allocations, frees }) => {
            let seconds = begun.elapsed().as_secs_f64();
            println!("{events} events, {allocations} allocations, {frees} frees");
            println!(
                "{seconds:.3} s, {:.1} million events a second",
                events as f64 / seconds / 1e6
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("count: {path}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn count(mut reader: Reader<'_>) -> Result<Counts, Error> {
    let mut counts = Counts::default();
    while let Some(run) = reader.next_run() {
        let run = match run? {
            Run::Experimental(run) => run,
            Run::Event(_) => {
                counts.events += 1;
                continue;
            }
        };
        for experimental in run {
            counts.events += 1;
            match AllocFree::from_event(&experimental.event) {
                Some(AllocFree::HeapObjectAlloc { .. }) => counts.allocations += 1,
                Some(AllocFree::HeapObjectFree { .. }) => counts.frees += 1,
                _ => {}
            }
        }
    }
    Ok(counts)
}
