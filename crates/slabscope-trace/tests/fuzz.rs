//! What the fuzz targets do, without the fuzzer: with their corpus, and with real traces and side
//! data that were changed.

#[expect(unreachable_pub, reason = "it is a crate of its own for the fuzzer")]
#[path = "../../../fuzz/src/trace.rs"]
mod targets;

mod support;

use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use support::REAL;

fn replay(name: &str, target: fn(&[u8])) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let mut count = 0;
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        // Shown when it fails.
        println!("{}", path.display());
        target(&fs::read(path).unwrap());
        count += 1;
    }
    assert!(count >= 10, "only {count} inputs");
}

#[test]
fn the_corpus_of_traces_is_survived() {
    replay("events", targets::events);
}

#[test]
fn the_corpus_of_side_data_is_survived() {
    replay("side_data", targets::side_data);
}

#[test]
fn a_real_trace_is_read_the_same_in_every_way() {
    targets::events(REAL);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn changed_real_traces_are_survived(changes in vec((any::<Index>(), any::<u8>()), 1..8)) {
        let mut bytes = REAL.to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        targets::events(&bytes);
    }
}

proptest! {
    #[test]
    fn any_side_data_is_survived(
        batches in vec((any::<u8>(), vec(any::<u8>(), 0..30)), 0..8), tail in vec(any::<u8>(), 0..9),
    ) {
        let kinds = [0, 1, 64, 66, 67, 68, 69, 70, 71, 72, 74];
        let mut bytes = Vec::new();
        for (kind, batch) in batches {
            bytes.extend([batch.len() as u8 + 1, kinds[usize::from(kind) % kinds.len()]]);
            bytes.extend(batch);
        }
        bytes.extend(tail);
        targets::side_data(&bytes);
    }
}

/// Real records of frames, modules and types of sites.
const TABLES: [&[u8]; 3] = [
    &[71, 1, 0, 4, 100, 5, 1, 0, 90],
    &[72, 1, 80, 0xc8, 1, 1, 64, 0, 3, 7, 2, 0xff, 2, b'/', b'p'],
    &[74, 1, 3, 1, b'T', 2, 2, 0],
];

proptest! {
    #[test]
    fn changed_tables_of_stacks_are_survived(
        tables in vec(any::<Index>(), 1..6),
        changes in vec((any::<Index>(), any::<u8>()), 0..6),
        cut in any::<Index>(),
    ) {
        let mut bytes = Vec::new();
        for table in tables {
            let table = table.get(&TABLES);
            bytes.push(table.len() as u8);
            bytes.extend(*table);
        }
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        targets::side_data(&bytes);
        targets::side_data(&bytes[..cut.index(bytes.len())]);
    }
}
