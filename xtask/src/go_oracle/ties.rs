//! Traces with many events at the same instant, of more threads than any real trace has at one.
//!
//! Which of them comes first is told by nothing but the steps of Go's reader: its heap of threads, and its
//! sort of that heap where the earliest event must wait for another thread's.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use slabscope_wire::batch::{BatchHeader, BatchKind, HEADER_MAX, NO_THREAD};
use slabscope_wire::buffer::Buffer;
use slabscope_wire::event::id;
use slabscope_wire::{header, varint};

use super::compare;
use super::install::Go;

/// How many threads the traces have. Go sorts up to twelve by insertion, and from fifty on by another
/// median.
const THREADS: [usize; 8] = [3, 12, 13, 20, 49, 50, 120, 400];

/// How many traces there are for each.
const SEEDS: u64 = 4;

/// Events of a thread in a trace.
const EVENTS: usize = 60;

/// How far a thread's clock may be ahead: its event then waits for one that happened before.
const SKEW: u64 = 6;

/// A processor that nobody has.
const IDLE: u64 = 2;

/// Compares on all of them; an error when any differs.
pub(super) fn run(directory: &Path, go: &Go, slabscope: &Path) -> Result<()> {
    let path = directory.join("ties.trace");
    let mut lines = 0;
    for threads in THREADS {
        for seed in 0..SEEDS {
            fs::write(&path, trace(threads, seed)?)
                .with_context(|| format!("{}: cannot be written", path.display()))?;
            let mut ours = Command::new(slabscope);
            let (same, is_sound) =
                compare::outputs(&mut go.dump(&path), ours.arg("dump").arg(&path), |_| {})
                    .with_context(|| format!("{threads} threads, seed {seed}"))?;
            if !is_sound {
                bail!("{threads} threads, seed {seed}: Go's reader fails");
            }
            lines += same;
        }
    }
    println!("  {lines} events at instants that up to 400 threads share come in Go's order");
    fs::remove_file(&path).with_context(|| format!("{}: cannot be removed", path.display()))
}

/// Threads that hand processors to each other: a start waits for the stop before it.
fn trace(threads: usize, seed: u64) -> Result<Vec<u8>> {
    let mut random = Random(seed << 32 | threads as u64);
    let procs = threads.div_ceil(2);
    let mut all: Vec<Thread> = (0..threads).map(|_| Thread::default()).collect();
    let mut idle: Vec<u64> = (0..procs as u64).collect();
    let mut starts = vec![0; procs];
    for proc in 0..procs as u64 {
        all[0].event(id::PROC_STATUS, 0, &[proc, IDLE]);
    }
    for step in 0..threads * EVENTS {
        let thread = &mut all[random.below(threads)];
        // Several instants are one by the clock, and some are seen too early.
        let now = SKEW + (step / threads) as u64;
        let time = now - random.below(SKEW as usize) as u64;
        match thread.proc {
            Some(_) if random.below(3) > 0 => thread.event(id::HEAP_ALLOC, time, &[step as u64]),
            Some(proc) => {
                thread.event(id::PROC_STOP, time, &[]);
                thread.proc = None;
                idle.push(proc);
            }
            None if idle.is_empty() => {}
            None => {
                let proc = idle.swap_remove(random.below(idle.len()));
                let start = &mut starts[proc as usize];
                *start += 1;
                thread.event(id::PROC_START, time, &[proc, *start]);
                thread.proc = Some(proc);
            }
        }
    }
    let mut bytes = header::BYTES.to_vec();
    let mut clock = vec![id::SYNC, id::FREQUENCY];
    numbers(&mut clock, &[1_000_000_000]);
    clock.push(id::CLOCK_SNAPSHOT);
    numbers(&mut clock, &[0, 0, 0, 0]);
    batch(&mut bytes, NO_THREAD, &clock)?;
    for (number, thread) in all.iter().enumerate() {
        batch(&mut bytes, number as u64, &thread.payload)?;
    }
    bytes.push(id::END_OF_GENERATION);
    Ok(bytes)
}

/// A thread as it is written.
#[derive(Default)]
struct Thread {
    payload: Vec<u8>,
    last: u64,
    proc: Option<u64>,
}

impl Thread {
    /// Adds an event at this time, or at that of the last one if that is later.
    fn event(&mut self, event: u8, time: u64, arguments: &[u64]) {
        self.payload.push(event);
        numbers(&mut self.payload, &[time.saturating_sub(self.last)]);
        numbers(&mut self.payload, arguments);
        self.last = self.last.max(time);
    }
}

fn batch(out: &mut Vec<u8>, thread: u64, payload: &[u8]) -> Result<()> {
    let mut bytes = [0; HEADER_MAX];
    let mut buffer = Buffer::new(&mut bytes);
    let header = BatchHeader { kind: BatchKind::Normal, generation: 1, thread, time: 0 };
    if !header.write(&mut buffer, payload.len()) {
        bail!("{} bytes are no batch", payload.len());
    }
    out.extend(buffer.written());
    out.extend(payload);
    Ok(())
}

fn numbers(out: &mut Vec<u8>, numbers: &[u64]) {
    for &number in numbers {
        let (bytes, len) = varint::encode(number);
        out.extend(bytes.get(..len).unwrap_or_default());
    }
}

/// The same numbers in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slabscope_trace::{Kind, Reader};

    #[test]
    fn they_are_read_to_the_end_and_full_of_ties() {
        for threads in [3, 60] {
            let bytes = trace(threads, 1).unwrap();
            let events: Vec<_> = Reader::new(&bytes).unwrap().collect::<Result<_, _>>().unwrap();
            assert!(events.len() > threads * EVENTS / 2);
            // Times that were equal are a nanosecond apart, so they run far ahead of the clock.
            let last = events.last().unwrap().time.0;
            assert!(last > 4 * (SKEW as i64 + EVENTS as i64) || threads == 3, "{last}");
            let moves = events.iter().filter(|e| matches!(e.kind, Kind::StateTransition(_)));
            assert!(moves.count() > threads);
        }
    }
}
