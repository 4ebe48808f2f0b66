//! The index beside a trace: every answer with it is the one without it, and no file in its place makes
//! an answer wrong.

#[path = "support/trace_builder.rs"]
mod trace_builder;

#[expect(unreachable_pub, reason = "it is a crate of its own for the fuzzer")]
#[path = "../../../fuzz/src/index.rs"]
mod targets;

use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

use proptest::prelude::*;
use slabscope_analysis::{
    AnalyzeError, Bound, Identity, Index, IndexError, IndexOptions, Profile, ProfileOptions,
    Window, profile_and_index, profile_without_names,
};
use slabscope_trace::Open;
use slabscope_wire::alloc_free::EndReason;
use slabscope_wire::event::id;
use trace_builder::{CLASS_48, LARGE, TraceBuilder};

const GO: &[u8] = include_bytes!("../../slabscope-trace/tests/data/go1.27-allocfree-small.trace");

const IDENTITY: Identity = targets::IDENTITY;

/// Where the inputs of the fuzz target lie.
fn corpus() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../fuzz/corpus/index"].iter().collect()
}

/// Inputs of the fuzz target, each an index with its trace.
fn inputs() -> impl Iterator<Item = Vec<u8>> {
    let index_of = |trace: &[u8], room| index(trace, 20, room).1;
    (1..7).map(move |seed| {
        let trace = random(seed, 6, 30);
        targets::join(&index_of(&trace, if seed % 3 == 0 { 0 } else { 1 << 20 }), &trace)
    })
}

/// A trace of random events, sound for the most part, a microsecond apart.
fn random(seed: u64, generations: usize, events: usize) -> Vec<u8> {
    let mut state = seed;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (state >> 33) as usize % below
    };
    let mut trace = TraceBuilder::new();
    let (mut slots, mut time) = ([false; 120], 1_000_000);
    for generation in 0..generations {
        trace.begin(time).info().build(&[("writer", "x")]);
        let shift = generation as u64 % 3;
        trace.frames(&[(1, 0, 10), (2, 1, 20 + shift)]);
        trace.sites_at(&[(1 + shift, 48, 0), (2 + shift, 40, 2), (3 + shift, 33, 1)]);
        trace.threads(&[(7, 900_000, "main"), (8 + shift, time, "worker")]);
        if generation == 0 {
            trace.events(7, time, &[(id::SPAN, 0, &[0, 1, CLASS_48])]);
            trace.events(7, time, &[(id::HEAP_OBJECT, 0, &[0, 0])]);
            slots[0] = true;
        }
        for _ in 0..random(events) + 1 {
            time += 1_000;
            let (slot, thread) = (random(slots.len()), 7 + random(2) as u64 * (1 + shift));
            let event: (u8, Vec<u64>) = match random(50) {
                0 => (id::SPAN_ALLOC, vec![100 + random(9) as u64, 1, LARGE]),
                1 => (id::SPAN_FREE, vec![100 + random(9) as u64]),
                2 => (id::GOROUTINE_STACK_ALLOC, vec![random(9) as u64 * 64, 14]),
                3 => (id::GOROUTINE_STACK_FREE, vec![random(9) as u64 * 64]),
                // Nowhere, or in a large span.
                4 => (id::HEAP_OBJECT_ALLOC, vec![(100 + random(20) as u64) * 1024, 1 + shift]),
                5 => (id::HEAP_OBJECT, vec![slot as u64 * 6, 0]),
                _ if slots[slot] => (id::HEAP_OBJECT_FREE, vec![slot as u64 * 6]),
                _ => (id::HEAP_OBJECT_ALLOC, vec![slot as u64 * 6, random(3) as u64 + 1 + shift]),
            };
            slots[slot] ^= event.0 == id::HEAP_OBJECT_ALLOC || event.0 == id::HEAP_OBJECT_FREE;
            let arguments: &'static [u64] = Box::leak(event.1.into_boxed_slice());
            trace.events(thread, time, &[(event.0, 0, arguments)]);
        }
        if generation + 1 == generations && !seed.is_multiple_of(4) {
            trace.closing(EndReason::Exited, [0; 9]);
        }
        trace.end();
        time += 500_000;
    }
    if seed.is_multiple_of(5) {
        trace.bytes.truncate(trace.bytes.len() - 3);
    }
    trace.bytes
}

fn index(trace: &[u8], part_events: u64, room: usize) -> (Profile, Vec<u8>) {
    let options = IndexOptions { identity: IDENTITY, room, part_events };
    let trace = Open::bytes(trace).unwrap();
    profile_and_index(trace, &ProfileOptions::default(), options, &mut |_| {}).unwrap()
}

/// All that is said of a profile.
fn told(profile: Result<Profile, AnalyzeError>) -> String {
    let profile = match profile {
        Ok(profile) => profile,
        Err(error) => return format!("{error:?}"),
    };
    let views = (profile.peak(), profile.leaks(), profile.temporary(), profile.sizes());
    let more = (profile.sites(), profile.threads(), profile.spans(), profile.types());
    let rest = (&profile.timeline, profile.totals, profile.part, profile.contradictions);
    format!("{:#?}\n{views:#?}\n{more:#?}\n{rest:#?}", profile.report())
}

fn plain(trace: &[u8], options: &ProfileOptions) -> String {
    told(profile_without_names(Open::bytes(trace).unwrap(), options, &mut |_| {}))
}

fn asked(trace: &[u8], index: &[u8], options: &ProfileOptions) -> Result<String, IndexError> {
    let mut index = Index::open(Cursor::new(index), &IDENTITY)?;
    let trace = trace.to_vec();
    let mut open = |resume: Option<slabscope_trace::Resume>| match resume {
        None => Open::stream(Cursor::new(trace.clone())).map_err(std::io::Error::other),
        Some(resume) => {
            let mut rest = Cursor::new(trace.clone());
            rest.set_position(resume.offset);
            Ok(Open::resumed(rest, resume))
        }
    };
    Ok(told(index.profile(options, &mut open, &mut |_| {})?))
}

fn options(from: Option<i64>, to: Option<i64>) -> ProfileOptions {
    let [from, to] = [from, to].map(|bound| bound.map(Bound::SinceStart));
    ProfileOptions { window: Window { from, to }, ..ProfileOptions::default() }
}

/// Holds answers with the index against those without.
fn compare(trace: &[u8], index: &[u8], parts: impl IntoIterator<Item = [Option<i64>; 2]>) {
    for [from, to] in parts {
        let options = options(from, to);
        let (with, without) = (asked(trace, index, &options).unwrap(), plain(trace, &options));
        if let Some((with, without)) =
            with.lines().zip(without.lines()).find(|(with, without)| with != without)
        {
            panic!("{from:?} to {to:?}: {with} with the index, {without} without");
        }
        assert_eq!(with.len(), without.len(), "{from:?} to {to:?}");
    }
}

#[test]
fn the_corpus_of_the_index_has_todays_layout() {
    let write = std::env::var_os("SLABSCOPE_WRITE_CORPUS").is_some();
    for (number, input) in inputs().enumerate() {
        let path = corpus().join(format!("{number:02}"));
        if write {
            fs::write(path, input).unwrap();
            continue;
        }
        let advice = "run this test with SLABSCOPE_WRITE_CORPUS=1 where the layout has changed";
        assert!(fs::read(&path).unwrap() == input, "{}: {advice}", path.display());
    }
}

#[test]
fn the_corpus_of_the_index_is_survived_and_has_answers() {
    let (mut files, mut answers) = (0, 0);
    for entry in fs::read_dir(corpus()).unwrap() {
        let path = entry.unwrap().path();
        // Shown when it fails.
        println!("{}", path.display());
        let bytes = fs::read(path).unwrap();
        targets::index(&bytes);
        files += 1;
        let len = u32::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
        let (index, trace) = bytes[4..].split_at(len);
        answers += usize::from(asked(trace, index, &options(None, None)).is_ok());
    }
    assert!(files >= 6 && answers >= 6, "{answers} of {files} have an answer");
}

#[test]
fn the_first_answer_is_that_without_an_index() {
    for seed in 1..40 {
        let trace = random(seed, 6, 60);
        let (profile, index) = index(&trace, 1, 1 << 20);
        assert_eq!(told(Ok(profile)), plain(&trace, &ProfileOptions::default()), "{seed}");
        let below = ProfileOptions { nearly_empty: 0.9, ..ProfileOptions::default() };
        assert_eq!(asked(&trace, &index, &below).unwrap(), plain(&trace, &below), "{seed}");
    }
}

#[test]
fn a_real_trace_of_go_is_answered_from_its_index() {
    let (_, index) = index(GO, 1, 1 << 20);
    let ms = 1_000_000;
    let parts = [[None, None], [Some(ms), None], [None, Some(2 * ms)], [Some(ms), Some(9 * ms)]];
    compare(GO, &index, parts);
    compare(GO, &index, [[Some(1 << 60), None]]);
}

#[test]
fn what_an_index_is_not_about_is_not_asked_of_it() {
    let trace = random(1, 3, 30);
    let (_, index) = index(&trace, 1, 1 << 20);
    let other = Identity { modified_ns: 9, ..IDENTITY };
    assert!(matches!(Index::open(Cursor::new(&index), &other), Err(IndexError::Stale)));
    let mut newer = index.clone();
    newer[8] += 1;
    assert!(matches!(Index::open(Cursor::new(newer), &IDENTITY), Err(IndexError::Foreign)));
    assert!(matches!(Index::open(Cursor::new(b"slab"), &IDENTITY), Err(IndexError::Foreign)));
    let temporary = slabscope_analysis::Temporary::Events(3);
    let options = ProfileOptions { temporary, ..ProfileOptions::default() };
    assert!(matches!(asked(&trace, &index, &options), Err(IndexError::Missing)));
}

#[test]
fn little_room_makes_for_fewer_snapshots() {
    let trace = random(3, 60, 60);
    let sizes = [1 << 20, 4_000, 0].map(|room| index(&trace, 1, room).1.len());
    assert!(sizes[0] > sizes[1] && sizes[1] > sizes[2], "{sizes:?}");
    for room in [4_000, 0] {
        let (_, index) = index(&trace, 1, room);
        compare(&trace, &index, [[Some(1_200_000), Some(20_000_000)], [Some(7_000_000), None]]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_part_is_answered_as_without_an_index(
        seed in 1..1000_u64, events in 1..80_usize, part_events in 1..40_u64,
        parts in proptest::collection::vec((0..9_000_000_i64, 0..9_000_000_i64), 1..6),
    ) {
        let trace = random(seed, 12, events);
        let (_, index) = index(&trace, part_events, 1 << 20);
        let parts = parts.into_iter().flat_map(|(from, to)| {
            let (from, to) = (Some(from), Some(to));
            [[from, to], [from, None], [None, to]]
        });
        compare(&trace, &index, parts);
    }

    #[test]
    fn a_changed_index_is_refused_or_says_the_same(
        at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<Option<prop::sample::Index>>(),
    ) {
        let trace = random(7, 8, 40);
        let (_, mut index) = index(&trace, 20, 1 << 20);
        let at = at.index(index.len());
        index[at] = byte;
        if let Some(cut) = cut {
            index.truncate(cut.index(index.len()));
        }
        for [from, to] in [[None, None], [Some(1_100_000), Some(3_000_000)]] {
            let options = options(from, to);
            if let Ok(with) = asked(&trace, &index, &options) {
                prop_assert_eq!(with, plain(&trace, &options));
            }
        }
    }

    #[test]
    fn a_changed_trace_beside_its_index_is_survived(
        which in 0..6_usize,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut input = inputs().nth(which).unwrap();
        let begin = 4 + u32::from_le_bytes(*input.first_chunk().unwrap()) as usize;
        let trace = &mut input[begin..];
        for (at, byte) in changes {
            trace[at.index(trace.len())] = byte;
        }
        targets::index(&input);
    }
}
