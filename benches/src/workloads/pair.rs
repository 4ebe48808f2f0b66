//! An object made and dropped at once: the fast path and nothing else.

use std::hint::black_box;

use super::{Outcome, mix, timed};

pub(super) fn run(size: usize, times: u64) -> Outcome {
    timed(|| {
        let mut checksum = 0;
        for number in 0..times {
            let mut object = Vec::<u8>::with_capacity(black_box(size));
            object.push(number as u8);
            checksum = mix(checksum, u64::from(black_box(&mut object)[0]));
        }
        checksum
    })
}
