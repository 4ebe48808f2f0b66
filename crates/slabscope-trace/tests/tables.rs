//! Strings and stacks of a generation, and the events that name them.

mod support;

use slabscope_trace::{ErrorKind, Event, Kind};
use slabscope_wire::event::{ArgKind, TABLE, id};
use slabscope_wire::varint::VarintError;

use support::{START, Trace, record, stacks, strings};

const TWO: &[(u64, &[u8])] = &[(1, b"main.work"), (2, b"main.rs")];
const FRAME: [u64; 4] = [0x4000, 1, 2, 12];

fn what(payload: &[u8]) -> ErrorKind {
    Trace::begun().table(payload).error().what
}

/// A trace in which thread 3 runs goroutine 1 on processor 0.
fn running() -> Trace {
    let list: [(u8, &[u64]); 2] = [(id::PROC_STATUS, &[1, 0, 1]), (id::GO_STATUS, &[1, 1, 3, 2])];
    Trace::begun().events(3, START, &list)
}

fn label(trace: Trace, string: u64) -> Trace {
    trace.events(3, START + 5, &[(id::GO_LABEL, &[1, string])])
}

fn label_of(events: &[Event]) -> Vec<u8> {
    let mut labels = events.iter().filter_map(|event| match &event.kind {
        Kind::Label { label, .. } => Some(label.as_bytes().to_vec()),
        _ => None,
    });
    labels.next_back().expect("a label")
}

#[test]
fn strings_have_1024_bytes_at_most() {
    let longest = [b'x'; 1024];
    let trace = running().table(&strings(&[(1, &longest)]));
    assert_eq!(label_of(&label(trace, 1).good()), longest);
    assert_eq!(what(&strings(&[(1, &[b'x'; 1025])])), ErrorKind::StringTooLong(1025));
    assert_eq!(what(&[id::STRINGS, id::STRING, 1, 4, b'a']), ErrorKind::StringCutOff);
}

#[test]
fn strings_are_defined_once_and_never_0() {
    assert_eq!(what(&strings(&[(0, b"a")])), ErrorKind::RepeatedString(0));
    assert_eq!(what(&strings(&[(7, b"a"), (7, b"a")])), ErrorKind::RepeatedString(7));
    let two_batches = Trace::begun().table(&strings(&[(7, b"a")])).table(&strings(&[(7, b"b")]));
    assert_eq!(two_batches.error().what, ErrorKind::RepeatedString(7));
    // In the next generation its number may mean another string.
    let list: [(u8, &[u64]); 2] = [(id::PROC_STATUS, &[1, 0, 1]), (id::GO_STATUS, &[1, 1, 3, 2])];
    let first = label(running().table(&strings(&[(7, b"a")])), 7);
    let second = first.next().events(3, START + 9, &list).table(&strings(&[(7, b"b")]));
    assert_eq!(label_of(&label(second, 7).good()), b"b");
}

#[test]
fn tables_may_follow_the_events_that_use_them() {
    let trace = label(running(), 1).table(&strings(&[(1, b"late\xff")]));
    assert_eq!(label_of(&trace.good()), b"late\xff");
}

#[test]
fn batches_of_tables_hold_their_own_records_only() {
    let stray = ErrorKind::StrayRecord;
    assert_eq!(what(&[id::STRINGS, id::STACK, 1, 0]), stray(id::STACK));
    assert_eq!(what(&[id::STACKS, id::STRING, 1, 0]), stray(id::STRING));
    assert_eq!(what(&[id::CPU_SAMPLES, id::STRINGS]), stray(id::STRINGS));
    assert_eq!(what(&[id::CPU_SAMPLES, id::CPU_SAMPLE, 1, 2, 3, 4, 5, 0]), stray(0));
}

#[test]
fn a_record_cut_off_by_its_batch_is_an_error() {
    let cut = ErrorKind::Number(VarintError::Truncated);
    for payload in [
        &[id::STRINGS, id::STRING][..],
        &[id::STRINGS, id::STRING, 1],
        &[id::STACKS, id::STACK, 1, 1, 0x80],
        &[id::STACKS, id::STACK, 1, 2, 1, 0, 0, 1],
        &[id::CPU_SAMPLES, id::CPU_SAMPLE, 1, 2, 3, 4],
    ] {
        assert_eq!(what(payload), cut, "{payload:?}");
    }
}

#[test]
fn stacks_have_128_frames_at_most() {
    let deep = |depth: usize| {
        let frames: Vec<_> = (0..depth as u64).map(|pc| [pc, 1, 2, pc]).collect();
        Trace::begun().table(&strings(TWO)).table(&stacks(&[(1, &frames)]))
    };
    let events = deep(128).good();
    let Kind::Sync(sync) = &events[0].kind else {
        panic!("a trace begins with a sync event");
    };
    let stack = sync.stack(1).unwrap();
    assert_eq!(stack.frames().count(), 128);
    assert_eq!(stack.frames().next().unwrap().function.as_bytes(), b"main.work");
    assert_eq!((sync.stack(0), sync.stack(2)), (None, None));
    assert_eq!(deep(129).error().what, ErrorKind::StackTooDeep(129));
}

#[test]
fn stacks_are_defined_once_and_never_0() {
    let with = |list| Trace::begun().table(&strings(TWO)).table(&stacks(list)).error().what;
    assert_eq!(with(&[(0, &[FRAME])]), ErrorKind::RepeatedStack(0));
    assert_eq!(with(&[(4, &[FRAME]), (4, &[FRAME])]), ErrorKind::RepeatedStack(4));
}

#[test]
fn frames_name_strings_that_exist_also_where_nobody_asks() {
    let trace = |frame| Trace::begun().table(&stacks(&[(1, &[frame])])).table(&strings(TWO));
    assert_eq!(trace(FRAME).good().len(), 2);
    assert_eq!(trace([1, 0, 0, 0]).good().len(), 2, "0 is the empty string");
    assert_eq!(trace([1, 3, 2, 0]).error().what, ErrorKind::MissingFrameString(3));
    assert_eq!(trace([1, 1, 9, 0]).error().what, ErrorKind::MissingFrameString(9));
}

#[test]
fn an_address_is_what_the_first_stack_says_it_is() {
    let list: &[(u64, &[[u64; 4]])] = &[(1, &[[8, 1, 2, 10]]), (2, &[[8, 2, 1, 99], [9, 1, 2, 3]])];
    let events = Trace::begun().table(&strings(TWO)).table(&stacks(list)).good();
    let Kind::Sync(sync) = &events[0].kind else {
        panic!("a trace begins with a sync event");
    };
    let lines: Vec<_> = sync.stack(2).unwrap().frames().map(|frame| frame.line).collect();
    assert_eq!(lines, [10, 3]);
}

#[test]
fn events_name_strings_and_stacks_that_exist() {
    let mut visited = 0;
    for spec in TABLE.iter().filter(|spec| spec.is_timed()) {
        for (index, arg) in spec.args.iter().enumerate() {
            let expected = match arg.kind {
                ArgKind::Number => continue,
                ArgKind::String => ErrorKind::MissingString { event: spec.id, string: 77 },
                _ => ErrorKind::MissingStack { event: spec.id, stack: 77 },
            };
            let mut args = vec![1; spec.args.len() + 1];
            for (place, arg) in spec.args.iter().enumerate() {
                args[place + 1] = match (spec.id, arg.name, arg.kind) {
                    (_, _, ArgKind::String | ArgKind::Stack | ArgKind::OtherStack) => 0,
                    (id::GO_CREATE | id::GO_CREATE_BLOCKED, ..) => 50,
                    (id::GO_UNBLOCK | id::GO_STATUS_STACK, "g", _) => 60,
                    (_, "gstatus", _) => 4,
                    _ => 1,
                };
            }
            let waiting: (u8, &[u64]) = (id::GO_STATUS, &[1, 60, 3, 4]);
            let trace = running().events(3, START + 4, &[waiting]);
            let with =
                |args: &[u64]| trace.clone().batch(3, START + 5, &record(spec.id, args)).read();
            assert_eq!(with(&args).1, None, "{}", spec.name);
            args[index + 1] = 77;
            let error = with(&args).1.map(|error| error.what);
            assert_eq!(error, Some(expected), "{}", spec.name);
            visited += 1;
        }
    }
    assert_eq!(visited, 28);
}
