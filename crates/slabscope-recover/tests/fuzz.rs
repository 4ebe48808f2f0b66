//! What the fuzz target does, without the fuzzer: with its corpus, and with live files and traces that
//! were changed.

mod builder;

#[expect(unreachable_pub, reason = "it is a crate of its own for the fuzzer")]
#[path = "../../../fuzz/src/recovery.rs"]
mod targets;

use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use builder::LiveFile;

#[test]
fn the_corpus_of_recovery_is_survived() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/recovery");
    let (mut count, mut sound) = (0, 0);
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        // Shown when it fails.
        println!("{}", path.display());
        let bytes = fs::read(path).unwrap();
        targets::recovery(&bytes);
        let input = targets::Input::parse(&bytes);
        sound +=
            usize::from(slabscope_recover::recover(input.trace.len() as u64, &input.live).is_ok());
        count += 1;
    }
    // Inputs of another version are refused at once, and lead nowhere.
    assert!(sound >= 4, "only {sound} inputs can be recovered: make them anew");
    assert!(count >= 4, "only {count} inputs");
}

/// A live file with all there can be, and the trace beside it.
fn files(by_cas: bool, begun: bool) -> targets::Input {
    let mut live = LiveFile::with_events(by_cas);
    live.set_stacks();
    live.set_type_names([b"Session", &[b'x'; 200]]);
    let mut trace = Vec::new();
    if begun {
        let made = slabscope_recover::recover(0, &live.bytes).expect("sound").expect("live");
        trace = made.tail;
        live.set_chunk(&trace[..40]);
    }
    targets::Input { trace, live: live.bytes }
}

/// The input that is these files.
fn input(files: &targets::Input) -> Vec<u8> {
    let mut bytes = vec![files.live.len().div_ceil(4096) as u8];
    bytes.extend((files.trace.len() as u16).to_le_bytes());
    bytes.extend(&files.trace);
    for (index, word) in files.live.as_chunks::<8>().0.iter().enumerate() {
        if *word != [0; 8] {
            bytes.extend((index as u32 * 8).to_le_bytes());
            bytes.extend(word);
        }
    }
    bytes
}

#[test]
fn the_corpus_of_recovery_has_todays_layout() {
    let write = std::env::var_os("SLABSCOPE_WRITE_CORPUS").is_some();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/recovery");
    for (number, by_cas) in [false, true].into_iter().enumerate() {
        for (half, begun) in [false, true].into_iter().enumerate() {
            let path = directory.join(format!("{number}{half}"));
            let input = input(&files(by_cas, begun));
            if write {
                fs::write(path, input).unwrap();
                continue;
            }
            let advice = "run this test with SLABSCOPE_WRITE_CORPUS=1 where the layout has changed";
            assert!(fs::read(&path).unwrap() == input, "{}: {advice}", path.display());
        }
    }
}

#[test]
fn an_input_is_the_files_it_was_made_from() {
    for (by_cas, begun) in [(false, false), (false, true), (true, false), (true, true)] {
        let files = files(by_cas, begun);
        let parsed = targets::Input::parse(&input(&files));
        assert_eq!(parsed.trace, files.trace);
        assert!(parsed.live.starts_with(&files.live));
        assert!(matches!(
            slabscope_recover::recover(parsed.trace.len() as u64, &parsed.live),
            Ok(Some(_))
        ));
    }
}

fn odd_word() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        0_u64..300,
        (0_u32..64).prop_map(|bit| 1 << bit),
        (0_u64..16).prop_map(|below| u64::MAX - below),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn changed_live_files_and_traces_are_survived(
        by_cas in any::<bool>(),
        begun in any::<bool>(),
        words in vec((any::<Index>(), odd_word()), 0..6),
        bytes in vec((any::<Index>(), any::<u8>()), 0..6),
        cut in (any::<Index>(), 0..4),
    ) {
        let sound = files(by_cas, begun);
        let mut input = input(&sound);
        let first = 3 + sound.trace.len();
        for (at, word) in words {
            let at = first + at.index((input.len() - first) / 12) * 12 + 4;
            input[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        for (at, byte) in bytes {
            let at = at.index(input.len());
            input[at] = byte;
        }
        if cut.1 == 0 {
            input.truncate(cut.0.index(input.len()));
        }
        targets::recovery(&input);
    }
}
