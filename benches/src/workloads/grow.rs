//! Buffers that grow as they are filled: realloc.

use std::hint::black_box;

use super::{Outcome, mix, timed};

/// Vectors of many lengths, one after the other, then several that grow in turn.
pub(super) fn vectors() -> Outcome {
    timed(|| {
        let mut checksum = 0;
        for round in 0..12_u64 {
            for log in 2..21 {
                let mut numbers = Vec::new();
                for number in 0..1_u64 << log {
                    numbers.push(number ^ round);
                }
                checksum = mix(checksum, black_box(&numbers).iter().sum());
            }
            let mut several: Vec<Vec<u64>> = (0..64).map(|_| Vec::new()).collect();
            for number in 0..20_000 {
                several.iter_mut().for_each(|numbers| numbers.push(number));
            }
            checksum = mix(checksum, black_box(&several).iter().map(|n| n.len() as u64).sum());
        }
        checksum
    })
}

/// Strings to which words are added, short ones and a few long ones.
pub(super) fn strings() -> Outcome {
    timed(|| {
        let mut checksum = 0;
        for round in 0..400_000_usize {
            let mut line = String::new();
            for word in 0..12 + round % 24 {
                line.push_str("word and ");
                line.push(char::from(b'a' + (word % 26) as u8));
            }
            checksum = mix(checksum, black_box(&line).len() as u64);
        }
        for _ in 0..12 {
            let mut long = String::new();
            while long.len() < 8 << 20 {
                long.push_str("a long text grows by a line of some fifty bytes each\n");
            }
            checksum = mix(checksum, black_box(&long).len() as u64);
        }
        checksum
    })
}
