//! How a trace is put together: headers, batches, generations. What Go's reader takes, ours
//! takes; what it refuses, ours refuses, and says where.

mod support;

use std::slice;

use slabscope_trace::{Error, ErrorKind, GoId, ThreadId, Time};
use slabscope_wire::batch::{NO_THREAD, PAYLOAD_MAX};
use slabscope_wire::event::id;
use slabscope_wire::header::HeaderError;
use slabscope_wire::varint::VarintError;

use support::{START, Trace, clock, events, read, record};

const ALLOC: (u8, &[u64]) = (id::HEAP_OBJECT_ALLOC, &[1, 40, 0]);

fn what(trace: Trace) -> ErrorKind {
    trace.error().what
}

#[test]
fn only_published_formats_are_read() {
    let mut visited = 0;
    for version in [22, 23, 25, 26] {
        let events = Trace::of_version(version).clock().events(3, START, &[ALLOC]).good();
        assert_eq!(events.len(), 3, "sync, the event, sync");
        assert_eq!(events[1].time, Time(1001));
        visited += 1;
    }
    assert_eq!(visited, 4);
    let header = |bytes: &[u8]| match read(bytes).1 {
        Some(Error { offset: 0, generation: 0, what: ErrorKind::Header(error) }) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(header(b"go 1.26 trace"), HeaderError::Truncated);
    assert_eq!(header(b""), HeaderError::Truncated);
    assert_eq!(header(b"\x7fELF"), HeaderError::Truncated);
    assert_eq!(header(b"\x7fELF_____________"), HeaderError::NotATrace);
    assert_eq!(header(b"go 1.21 trace\0\0\0"), HeaderError::TooOld(21));
    assert_eq!(header(b"go 1.24 trace\0\0\0"), HeaderError::Unknown(24));
    assert_eq!(header(b"go 1.27 trace\0\0\0"), HeaderError::Unknown(27));
}

#[test]
fn batch_lengths_may_be_padded() {
    let payload = events(&[ALLOC]);
    let len = payload.len() as u8 | 0x80;
    let padded = [1, 1, 3, 5, len, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0];
    let events = Trace::begun().raw(&padded).raw(&payload).good();
    assert_eq!(events[1].thread, ThreadId(3));
}

#[test]
fn numbers_of_a_batch_header_fit_64_bits() {
    let too_large = [0xff; 10];
    let trace = Trace::begun();
    let at = trace.bytes.len() as u64 + 1;
    let error = trace.raw(&[1]).raw(&too_large).error();
    let what = ErrorKind::BatchHeader(VarintError::Overflow);
    assert_eq!(error, Error { offset: at, generation: 1, what });
}

#[test]
fn payloads_have_64_kib_at_most() {
    let mut payload = Vec::new();
    while payload.len() < PAYLOAD_MAX - 4 {
        payload.extend(record(id::HEAP_OBJECT_FREE, &[0, 300]));
    }
    assert_eq!(payload.len(), PAYLOAD_MAX - 4);
    payload.extend(record(id::HEAP_OBJECT_FREE, &[0, 300]));
    let events = Trace::begun().batch(3, START, &payload).good();
    assert_eq!(events.len(), PAYLOAD_MAX / 4 + 2);
    payload.push(id::PROC_STOP);
    let error = what(Trace::begun().batch(3, START, &payload));
    assert_eq!(error, ErrorKind::BatchTooLarge(PAYLOAD_MAX as u64 + 1));
}

#[test]
fn a_batch_begins_with_its_number() {
    for (byte, version) in [(0, 26), (2, 26), (50, 26), (0, 23)] {
        let trace = Trace::of_version(version).clock();
        let (at, found) = (trace.bytes.len() as u64, what(trace.clone().raw(&[byte])));
        assert_eq!(found, ErrorKind::NotABatch(byte));
        assert_eq!(trace.raw(&[byte]).error().offset, at);
    }
}

#[test]
fn an_empty_batch_is_harmless() {
    assert_eq!(Trace::begun().batch(3, START, &[]).good().len(), 2);
}

#[test]
fn experiment_0_is_a_normal_batch() {
    let events = Trace::begun().side(0, &events(&[(id::PROC_STATUS, &[0, 1, 2])])).good();
    assert_eq!(events[1].kind.name(), "StateTransition");
}

#[test]
fn generations_have_one_number_each_but_never_0() {
    assert_eq!(what(Trace::new().generation(0).clock()), ErrorKind::GenerationZero);
    let mixed = Trace::begun().events(3, START, &[ALLOC]).generation(2);
    assert_eq!(what(mixed.events(3, START, &[ALLOC])), ErrorKind::GenerationOutOfOrder(2));
    // With ends of their own, they may come in any order.
    let jumping = Trace::new().generation(7).clock().end().generation(3).clock().end();
    assert_eq!(jumping.generation(7).clock().good().len(), 4);
}

#[test]
fn without_ends_generations_count_up() {
    let two = |second| {
        let first = Trace::of_version(23).clock().events(3, START, &[ALLOC]);
        first.generation(second).clock().events(3, START, &[ALLOC])
    };
    assert_eq!(two(2).good().len(), 5);
    assert_eq!(what(two(3)), ErrorKind::GenerationOutOfOrder(3));
    let ended = Trace::of_version(23).clock().raw(&[id::END_OF_GENERATION]);
    assert_eq!(what(ended), ErrorKind::UnexpectedEnd);
}

#[test]
fn a_generation_without_its_end_is_lost() {
    let trace = Trace::begun().events(3, START, &[ALLOC]).next().events(3, 2000, &[ALLOC]);
    let (events, error) = read(&trace.bytes);
    assert_eq!(events.len(), 3, "the first generation, and the last sync event");
    let offset = trace.bytes.len() as u64;
    assert_eq!(error, Some(Error { offset, generation: 2, what: ErrorKind::GenerationCutOff }));
    // Where no event is lost, nothing is missing.
    let whole = Trace::begun().events(3, START, &[ALLOC]).next();
    assert_eq!(read(&whole.bytes).1, None);
}

#[test]
fn in_older_formats_a_torn_generation_is_delivered() {
    let trace = Trace::of_version(25).clock().events(3, START, &[ALLOC]);
    assert_eq!(read(&trace.bytes).1, None);
    let whole = trace.bytes.len();
    let torn = trace.events(4, 2000, &[ALLOC]);
    let mut visited = 0;
    for len in whole + 1..torn.bytes.len() {
        let (events, error) = read(&torn.bytes[..len]);
        assert_eq!(events.len(), 3, "cut at {len}");
        assert!(error.is_some_and(|error| error.generation == 1), "cut at {len}");
        visited += 1;
    }
    assert_eq!(visited, 9);
}

#[test]
fn a_torn_trace_is_mended_by_an_end() {
    let trace = Trace::begun().events(3, START, &[ALLOC]);
    let mended = [&trace.bytes[..], &[id::END_OF_GENERATION]].concat();
    assert!(read(&trace.bytes).1.is_some());
    let (events, error) = read(&mended);
    assert_eq!((events.len(), error), (3, None));
}

#[test]
fn zeros_after_the_end_are_an_error_after_all_events() {
    let trace = Trace::begun().events(3, START, &[ALLOC]).end();
    let offset = trace.bytes.len() as u64;
    let (events, error) = read(&trace.raw(&[0; 8]).bytes);
    assert_eq!(events.len(), 3);
    assert_eq!(error.map(|error| error.offset), Some(offset));
}

#[test]
fn a_generation_needs_exactly_one_clock() {
    assert_eq!(what(Trace::new()), ErrorKind::NoFrequency);
    assert_eq!(Trace::begun().good().len(), 2, "and needs nothing else");
    let sync = |records: &[Vec<u8>]| [vec![id::SYNC], records.concat()].concat();
    let frequency = record(id::FREQUENCY, &[1_000_000_000]);
    let snapshot = record(id::CLOCK_SNAPSHOT, &[5, 77, 1_700_000_000, 0]);
    let with = |records: &[Vec<u8>]| what(Trace::new().table(&sync(records)));
    assert_eq!(with(slice::from_ref(&snapshot)), ErrorKind::NoFrequency);
    assert_eq!(with(slice::from_ref(&frequency)), ErrorKind::NoClockSnapshot);
    let twice = [frequency.clone(), frequency.clone(), snapshot.clone()];
    assert_eq!(with(&twice), ErrorKind::RepeatedFrequency);
    let twice = [frequency.clone(), snapshot.clone(), snapshot.clone()];
    assert_eq!(with(&twice), ErrorKind::RepeatedClockSnapshot);
    assert_eq!(with(&[frequency, vec![id::STRING]]), ErrorKind::StrayRecord(id::STRING));
    assert_eq!(what(Trace::begun().clock()), ErrorKind::RepeatedFrequency);
    assert_eq!(what(Trace::of_version(23)), ErrorKind::NoFrequency);
    assert_eq!(what(Trace::of_version(23).clock().clock()), ErrorKind::RepeatedFrequency);
}

#[test]
fn clock_batches_of_the_other_formats_are_taken_for_events() {
    let new_in_old = Trace::of_version(23).clock().table(&clock(26, 1));
    assert_eq!(what(new_in_old), ErrorKind::UntimedEvent(id::SYNC));
    let old_in_new = Trace::begun().table(&clock(23, 1));
    assert_eq!(what(old_in_new), ErrorKind::UntimedEvent(id::FREQUENCY));
}

#[test]
fn a_generation_begins_with_its_earliest_batch() {
    let sync = |trace: Trace| trace.good()[0].time;
    let trace = Trace::begun().events(3, START - 10, &[ALLOC]);
    assert_eq!(sync(trace.clone()), Time(990));
    assert_eq!(sync(trace.batch(NO_THREAD, 1, &[id::STRINGS])), Time(1));
}

#[test]
fn samples_need_no_state_and_find_their_place_by_time() {
    let sample = |time, goroutine| record(id::CPU_SAMPLE, &[time, 3, 0, goroutine, 0]);
    let samples = [vec![id::CPU_SAMPLES], sample(1030, 9), sample(1010, 0)].concat();
    let list: [(u8, &[u64]); 3] = [
        (id::HEAP_OBJECT_ALLOC, &[5, 1, 0]),
        (id::HEAP_OBJECT_ALLOC, &[10, 2, 0]),
        (id::HEAP_OBJECT_ALLOC, &[20, 3, 0]),
    ];
    let events = Trace::begun().table(&samples).events(3, START, &list).good();
    let kinds: Vec<_> = events.iter().map(|event| (event.kind.name(), event.time.0)).collect();
    let expected = [
        ("Sync", 1000),
        ("Experimental", 1005),
        ("StackSample", 1010),
        ("Experimental", 1015),
        ("StackSample", 1030),
        ("Experimental", 1035),
        ("Sync", 1036),
    ];
    assert_eq!(kinds, expected);
    assert_eq!((events[2].goroutine, events[4].goroutine), (GoId::NONE, GoId(9)));
}

#[test]
fn ticks_are_rounded_event_by_event() {
    // 3 GHz: two ticks are no whole nanosecond, so they are lost each time.
    let list = vec![(id::HEAP_OBJECT_FREE, &[2, 7][..]); 3000];
    let trace = Trace::new().table(&clock(26, 3_000_000_000));
    let events = trace.events(3, START, &list).events(4, START + 3000, &[ALLOC]).good();
    let times: Vec<_> = events.iter().map(|event| event.time.0).collect();
    assert_eq!(times[..4], [333, 334, 335, 336], "equal times are told apart");
    let late = events.iter().position(|event| event.thread == ThreadId(4));
    assert_eq!(late, Some(3001), "after events it came in the midst of");
}
