//! Counts the events of a trace and says how fast they were read: `count FILE [here]`.
//!
//! Another thread decodes ahead, unless it is to be done `here`.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Instant;

use slabscope_trace::alloc_free::AllocFree;
use slabscope_trace::{Error, Open, Reader, Run};

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
    let is_here = arguments.next().is_some_and(|argument| argument == "here");
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("count: {path}: {error}");
            return ExitCode::from(2);
        }
    };
    let begun = Instant::now();
    let counted = Open::bytes(&bytes)
        .and_then(|trace| if is_here { count(trace.here()) } else { trace.ahead(count) });
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
        let mut run = match run? {
            Run::Experimental(run) => run,
            Run::Event(_) => {
                counts.events += 1;
                continue;
            }
        };
        let ControlFlow::Continue(()) = run.each_alloc_free(|_, _, event| {
            counts.events += 1;
            match event {
                Some(AllocFree::HeapObjectAlloc { .. }) => counts.allocations += 1,
                Some(AllocFree::HeapObjectFree { .. }) => counts.frees += 1,
                _ => {}
            }
            ControlFlow::<Infallible>::Continue(())
        });
    }
    Ok(counts)
}
