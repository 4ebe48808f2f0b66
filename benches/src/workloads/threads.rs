//! Several threads: each with its own objects, or freeing what others made.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::churn::{self, Churn, sizes};
use super::{Outcome, mix, timed};
use crate::Random;

/// Runs `each` on `count` threads at once and mixes what they return, in order.
fn on_threads(count: u64, each: impl Fn(u64) -> u64 + Sync) -> u64 {
    thread::scope(|scope| {
        let each = &each;
        let threads: Vec<_> = (0..count).map(|number| scope.spawn(move || each(number))).collect();
        threads.into_iter().fold(0, |sum, thread| mix(sum, thread.join().unwrap_or_default()))
    })
}

pub(super) fn churn_on_two() -> Outcome {
    let sizes = sizes(11);
    timed(|| {
        on_threads(2, |number| {
            let mut heap = Churn::new(50_000, number);
            heap.replace(2_500_000, &sizes);
            heap.checksum()
        })
    })
}

/// The same on each of `count` threads; they share nothing.
pub(super) fn churn_in_cache(count: u64) -> Outcome {
    let sizes = churn::small_sizes();
    timed(|| on_threads(count, |number| churn::churn_in_cache(number, &sizes)))
}

/// As [`churn_in_cache`], in bursts that all threads begin together, with pauses in which others have the
/// CPUs. [`Outcome::each`] is what a thread's bursts take, were all as long as the middle one.
pub(super) fn bursts_in_cache(count: u64) -> Outcome {
    const BURSTS: usize = 1_000;
    const STEPS: usize = 5_000;
    const PAUSE: Duration = Duration::from_millis(1);
    let (sizes, start) = (churn::small_sizes(), Barrier::new(count as usize));
    let each = AtomicU64::new(0);
    let outcome = timed(|| {
        on_threads(count, |number| {
            let mut heap = Churn::in_cache(number);
            let mut bursts = Vec::with_capacity(BURSTS);
            for _ in 0..BURSTS {
                thread::sleep(PAUSE);
                start.wait();
                let begun = Instant::now();
                heap.replace(STEPS, &sizes);
                bursts.push(begun.elapsed().as_nanos() as u64);
            }
            let (_, &mut middle, _) = bursts.select_nth_unstable(BURSTS / 2);
            each.fetch_add(middle * BURSTS as u64, Ordering::Relaxed);
            heap.checksum()
        })
    });
    Outcome { each: each.into_inner() / count, ..outcome }
}

/// More threads than CPUs, each with a heap of its own.
pub(super) fn sixty_four() -> Outcome {
    let sizes = sizes(11);
    timed(|| {
        on_threads(64, |number| {
            let mut heap = Churn::new(1_000, number);
            heap.replace(60_000, &sizes);
            heap.checksum()
        })
    })
}

/// One thread makes, the other drops.
pub(super) fn remote() -> Outcome {
    const PARCELS: usize = 20_000;
    const OBJECTS: usize = 128;
    timed(|| {
        let (sender, receiver) = mpsc::sync_channel::<Vec<Vec<u8>>>(32);
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut random = Random::new(1);
                for parcel in 0..PARCELS {
                    let make = |_| {
                        let mut object = Vec::with_capacity(16 + random.next() as usize % 240);
                        object.push(parcel as u8);
                        object
                    };
                    if sender.send((0..OBJECTS).map(make).collect()).is_err() {
                        return;
                    }
                }
            });
            let first = |object: &Vec<u8>| u64::from(object.first().copied().unwrap_or(0));
            receiver.iter().flatten().fold(0, |sum, object| mix(sum, first(&object)))
        })
    })
}

/// Short-lived threads that hand what is live on to the next (after Larson and Krishnan).
pub(super) fn larson() -> Outcome {
    const LINES: u64 = 2;
    const HANDOVERS: usize = 250;
    const STEPS: usize = 8_000;
    let sizes = sizes(11);
    timed(|| {
        on_threads(LINES, |line| {
            let mut heap = Churn::new(1_000, line);
            for _ in 0..HANDOVERS {
                heap = thread::scope(|scope| {
                    let sizes = &sizes;
                    let next = scope.spawn(move || {
                        heap.replace(STEPS, sizes);
                        heap
                    });
                    next.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                });
            }
            heap.checksum()
        })
    })
}
