//! Many live objects of log-normal sizes, one replaced at random at each step: what a long-lived
//! program does to a heap.

use super::{Outcome, mix, timed};
use crate::Random;

const LIVE: usize = 100_000;
const STEPS: usize = 4_000_000;

/// As many objects as fit the caches nearest to the CPU.
const LIVE_IN_CACHE: usize = 1_000;
const STEPS_IN_CACHE: usize = 10_000_000;

/// Sizes to pick from, made beforehand.
const SIZES: usize = 1 << 14;

pub(super) fn run() -> Outcome {
    let sizes = sizes(11);
    timed(|| {
        let mut heap = Churn::new(LIVE, 5);
        heap.replace(STEPS, &sizes);
        heap.checksum()
    })
}

pub(super) fn in_cache() -> Outcome {
    let sizes = small_sizes();
    timed(|| churn_in_cache(5, &sizes))
}

/// The same on any thread.
pub(super) fn churn_in_cache(seed: u64, sizes: &[u32]) -> u64 {
    let mut heap = Churn::in_cache(seed);
    heap.replace(STEPS_IN_CACHE, sizes);
    heap.checksum()
}

/// Sizes in bytes as in [`sizes`], none above 512.
pub(super) fn small_sizes() -> Vec<u32> {
    sizes(11).into_iter().map(|size| size.min(512)).collect()
}

/// Sizes in bytes, log-normal around 90, between 8 and 32,000.
pub(super) fn sizes(seed: u64) -> Vec<u32> {
    let mut random = Random::new(seed);
    let mut unit = || (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
    let normal = move || {
        // By Box and Muller.
        let (radius, angle) = (1.0 - unit(), unit());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    };
    let mut normal = normal;
    (0..SIZES).map(|_| (4.5 + 1.2 * normal()).exp().clamp(8.0, 32_000.0) as u32).collect()
}

/// Objects, some of them live.
#[derive(Debug)]
pub(super) struct Churn {
    objects: Vec<Vec<u8>>,
    random: Random,
    checksum: u64,
}

impl Churn {
    pub(super) fn new(live: usize, seed: u64) -> Self {
        let objects = (0..live).map(|_| Vec::new()).collect();
        Churn { objects, random: Random::new(seed), checksum: 0 }
    }

    pub(super) fn in_cache(seed: u64) -> Self {
        Churn::new(LIVE_IN_CACHE, seed)
    }

    pub(super) fn replace(&mut self, steps: usize, sizes: &[u32]) {
        for _ in 0..steps {
            let number = self.random.next();
            let size = sizes[(number >> 40) as usize % sizes.len()];
            let place = (number as u32 as usize) % self.objects.len();
            let mut object = Vec::with_capacity(size as usize);
            object.push(number as u8);
            let old = std::mem::replace(&mut self.objects[place], object);
            self.checksum = mix(self.checksum, u64::from(old.first().copied().unwrap_or(0)));
        }
    }

    pub(super) fn checksum(self) -> u64 {
        self.checksum
    }
}
