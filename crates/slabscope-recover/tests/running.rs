//! Live files that change while they are read.

mod builder;

use builder::{LiveFile, RING_WORDS};
use slabscope_recover::{read_running, recover};
use slabscope_wire::alloc_free::EventKind;
use slabscope_wire::live::{checkpoint, header, state, word};

/// Readings before the first try, and of each try: header and checkpoints twice, heads, words, chunk, heads.
const BEFORE: usize = 1;
const PLACE: usize = 4;
const TRY: usize = 8;

/// Reads a file that is another from such a reading on, counted from 0.
fn read(files: &[(usize, &LiveFile)]) -> Option<Vec<u8>> {
    let mut reading = 0;
    let read = read_running(|at, to| {
        let (_, file) = files.iter().rev().find(|(from, _)| *from <= reading).expect("a file");
        reading += 1;
        let from = file.bytes.get(at as usize..).unwrap_or_default();
        let len = from.len().min(to.len());
        to[..len].copy_from_slice(&from[..len]);
        Ok(())
    });
    read.expect("it can be read")
}

/// Three events of thread 1 and one of thread 2, which freed an object.
fn begun() -> LiveFile {
    LiveFile::with_events(false)
}

/// Four events later.
fn later() -> LiveFile {
    let mut live = begun();
    for number in 2..6 {
        let ticks = 1500 + 100 * number;
        live.push(0, 1, ticks, &[word::event(EventKind::ObjectAlloc, 3 * 1024 + 3 * number, 1)]);
    }
    live
}

#[test]
fn tables_are_read_after_the_records() {
    let (first, mut last) = (begun(), later());
    last.set_header(header::THREADS, 4);
    last.set_header(header::DROPPED, 3);
    let joined = read(&[(0, &first), (BEFORE + TRY, &last)]).expect("it stood still");
    assert_eq!(recover(0, &joined).expect("sound").expect("live").events, 4);
    let word = |index: usize| u64::from_le_bytes(joined[index * 8..][..8].try_into().unwrap());
    assert_eq!((word(header::THREADS), word(header::DROPPED)), (4, 0));
    let joined = read(&[(0, &first), (BEFORE + PLACE, &later())]).expect("it stood still");
    assert_eq!(recover(0, &joined).expect("sound").expect("live").events, 8);
    assert!(later().bytes.starts_with(&joined), "a whole reading of what it was in the end");
}

#[test]
fn what_was_written_meanwhile_is_taken_from_the_trace() {
    let mut first = begun();
    first.set_checkpoint(checkpoint::GENERATION, 1);
    first.set_chunk(b"half a chunk");
    let mut last = begun();
    last.set_chunk(b"another one!");
    last.set_header(header::WRITTEN, 12);
    for reading in [BEFORE + PLACE, BEFORE + TRY] {
        let joined = read(&[(0, &first), (reading, &last)]).expect("it stood still");
        let recovered = recover(12, &joined).expect("sound").expect("live");
        assert_eq!((recovered.keep, recovered.events), (12, 4));
    }
    let joined = read(&[(0, &first)]).expect("it stood still");
    let recovered = recover(12, &joined).expect("sound").expect("live");
    assert!(recovered.keep == 0 && recovered.tail.starts_with(b"half a chunk"));
}

#[test]
fn a_checkpoint_that_changes_is_read_again() {
    let (first, mut next) = (begun(), later());
    next.set_checkpoint(checkpoint::RINGS, 3);
    for reading in 0..BEFORE + PLACE {
        let joined = read(&[(0, &first), (reading, &next)]).expect("it stood still at last");
        assert!(next.bytes.starts_with(&joined), "from reading {reading} on");
    }
}

#[test]
fn records_that_were_written_over_are_read_again_and_not_for_ever() {
    let first = begun();
    let mut far = begun();
    far.set_head(0, RING_WORDS + 1);
    let files = [(0, &first), (BEFORE + PLACE + 3, &far), (BEFORE + TRY, &first)];
    let joined = read(&files).expect("it stood still at last");
    assert_eq!(recover(0, &joined).expect("sound").expect("live").events, 4);
    assert_eq!(read(&[(0, &far)]), None);
}

#[test]
fn a_trace_that_ended_meanwhile_is_left_as_it_is() {
    let first = begun();
    let mut last = begun();
    last.set_header(header::STATE, state::ENDED);
    let joined = read(&[(0, &first), (BEFORE + TRY, &last)]).expect("it stood still");
    assert_eq!(recover(12, &joined), Ok(None));
}

#[test]
fn what_is_no_live_file_is_not_read_on() {
    let mut other = begun();
    other.set_header(header::MAGIC, 1);
    assert_eq!(read(&[(0, &other)]), None);
    let mut huge = begun();
    huge.set_header(header::CHUNK_MAX, u64::MAX);
    assert_eq!(read(&[(0, &huge)]), None);
}
