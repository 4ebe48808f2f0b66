//! Maps of strings: filled, searched, thinned out and dropped.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, DefaultHasher};

use super::{Outcome, mix, timed};
use crate::Random;

const ENTRIES: usize = 150_000;
const ROUNDS: u64 = 2;

fn key(random: &mut Random) -> String {
    format!("key-{:x}", random.next() >> (random.next() % 40))
}

pub(super) fn btree() -> Outcome {
    timed(|| {
        let mut checksum = 0;
        for round in 0..ROUNDS {
            let mut random = Random::new(round);
            let mut map = BTreeMap::new();
            for index in 0..ENTRIES {
                map.insert(key(&mut random), format!("the value of number {index}"));
            }
            let keys: Vec<String> = map.keys().step_by(2).cloned().collect();
            for key in &keys {
                checksum = mix(checksum, map.remove(key).map_or(0, |value| value.len() as u64));
            }
            checksum = mix(checksum, map.values().map(|value| value.len() as u64).sum());
        }
        checksum
    })
}

pub(super) fn hash() -> Outcome {
    timed(|| {
        let mut checksum = 0;
        for round in 0..ROUNDS {
            let mut random = Random::new(round);
            // Hashed the same in every process.
            let mut map = HashMap::<_, _, BuildHasherDefault<DefaultHasher>>::default();
            let mut keys = Vec::new();
            for index in 0..ENTRIES {
                let key = key(&mut random);
                if index % 2 == 0 {
                    keys.push(key.clone());
                }
                map.insert(key, format!("the value of number {index}"));
            }
            for key in &keys {
                checksum = mix(checksum, map.remove(key).map_or(0, |value| value.len() as u64));
            }
            checksum = mix(checksum, map.values().map(|value| value.len() as u64).sum());
        }
        checksum
    })
}
