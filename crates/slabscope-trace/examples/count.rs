//! Counts the events of a trace and says how fast they were read: `count FILE`.

use std::process::ExitCode;
use std::time::Instant;

use slabscope_trace::alloc_free::AllocFree;
use slabscope_trace::{Kind, Reader};

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("count: which file?");
        return ExitCode::from(2);
    };
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("count: {path}: {error}");
            return ExitCode::from(2);
        }
    };
    let begun = Instant::now();
    let (mut events, mut allocs, mut frees) = (0_u64, 0_u64, 0_u64);
    let reader = match Reader::new(&bytes) {
        Ok(reader) => reader,
        Err(error) => {
            eprintln!("count: {path}: {error}");
            return ExitCode::FAILURE;
        }
    };
    for event in reader {
        match event {
            Ok(event) => {
                events += 1;
                if let Kind::Experimental(event) = &event.kind {
                    match AllocFree::from_event(event) {
                        Some(AllocFree::HeapObjectAlloc { .. }) => allocs += 1,
                        Some(AllocFree::HeapObjectFree { .. }) => frees += 1,
                        _ => {}
                    }
                }
            }
            Err(error) => {
                eprintln!("count: {path}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!("{events} events, {allocs} allocations, {frees} frees");
    println!("{seconds:.3} s, {:.1} million events a second", events as f64 / seconds / 1e6);
    ExitCode::SUCCESS
}
