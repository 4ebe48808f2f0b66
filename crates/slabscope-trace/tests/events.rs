//! The form of events, the times they get, and what their thread must have for them.

mod support;

use slabscope_trace::{Error, ErrorKind, Kind, StateError, ThreadId};
use slabscope_wire::batch::NO_THREAD;
use slabscope_wire::event::{self, id};

use support::{START, Trace, events, lines, record};

const ALLOC: (u8, &[u64]) = (id::HEAP_OBJECT_ALLOC, &[1, 40, 0]);

#[test]
fn every_number_is_an_event_or_is_refused() {
    let (mut timed, mut untimed, mut unknown) = (0, 0, 0);
    for id in 0..=255 {
        // The first event is good, so that the byte does not make the batch one of tables.
        let args = event::spec(id).map_or(0, |spec| spec.args.len()) + 1;
        let payload = [events(&[ALLOC]), record(id, &vec![0; args])].concat();
        let error = Trace::begun().batch(3, START, &payload).read().1.map(|error| error.what);
        match event::spec(id) {
            None => {
                assert_eq!(error, Some(ErrorKind::UnknownEvent(id)));
                unknown += 1;
            }
            Some(spec) if !spec.is_timed() => {
                assert_eq!(error, Some(ErrorKind::UntimedEvent(id)));
                untimed += 1;
            }
            Some(_) => {
                let is_read =
                    matches!(error, None | Some(ErrorKind::State { .. } | ErrorKind::Stuck(_)));
                assert!(is_read, "{id}: {error:?}");
                timed += 1;
            }
        }
    }
    assert_eq!((timed, untimed, unknown), (50, 11, 195));
}

#[test]
fn an_event_cut_off_by_its_batch_is_refused_with_its_place() {
    let whole = events(&[ALLOC, (id::SPAN_ALLOC, &[1, 300, 1, 22])]);
    let first = events(&[ALLOC]).len();
    let mut visited = 0;
    for len in first + 1..whole.len() {
        let trace = Trace::begun().batch(3, START, &whole[..len]);
        let offset = (trace.bytes.len() - len + first) as u64;
        let what = ErrorKind::BrokenEvent(id::SPAN_ALLOC);
        assert_eq!(trace.error(), Error { offset, generation: 1, what });
        visited += 1;
    }
    assert_eq!(visited, 5);
}

#[test]
fn an_event_against_the_rules_is_refused_with_its_place() {
    let first = Trace::begun().events(3, START, &[ALLOC]).next();
    let trace = first.events(3, START, &[ALLOC, (id::HEAP_ALLOC, &[1, 64]), ALLOC]);
    let offset = (trace.bytes.len() - events(&[ALLOC]).len() - 3) as u64;
    let error = StateError::NoProc;
    let what = ErrorKind::State { event: id::HEAP_ALLOC, error };
    let (events, error) = trace.read();
    assert_eq!(error, Some(Error { offset, generation: 2, what }));
    assert_eq!(events.len(), 4, "all events before it");
    let text = error.unwrap().to_string();
    assert_eq!(text, format!("offset {offset}, generation 2: HeapAlloc: needs a processor"));
}

#[test]
fn numbers_of_events_fit_64_bits() {
    let largest = record(id::HEAP_OBJECT_FREE, &[1, u64::MAX]);
    assert_eq!(Trace::begun().batch(3, START, &largest).good().len(), 3);
    let mut too_large = largest;
    *too_large.last_mut().unwrap() = 2;
    let error = Trace::begun().batch(3, START, &too_large).error().what;
    assert_eq!(error, ErrorKind::BrokenEvent(id::HEAP_OBJECT_FREE));
    let padded = [id::HEAP_OBJECT_FREE, 0x81, 0x80, 0, 0x85, 0];
    let events = Trace::begun().batch(3, START, &padded).good();
    let Kind::Experimental(event) = &events[1].kind else {
        panic!("{:?}", events[1]);
    };
    assert_eq!((event.args(), events[1].time.0), (&[5][..], 1001));
}

#[test]
fn equal_times_come_in_the_order_of_gos_heap() {
    let mut trace = Trace::begun();
    for thread in [9, 8, 7] {
        let list: [(u8, &[u64]); 2] =
            [(id::HEAP_OBJECT_FREE, &[5, 1]), (id::HEAP_OBJECT_FREE, &[0, 2])];
        trace = trace.events(thread, START, &list);
    }
    let events = trace.good();
    let found: Vec<_> = events.iter().map(|event| (event.thread.0, event.time.0)).collect();
    let expected =
        [(-1, 1000), (9, 1005), (9, 1006), (7, 1007), (7, 1008), (8, 1009), (8, 1010), (-1, 1011)];
    assert_eq!(found, expected);
}

#[test]
fn a_threads_batches_stay_in_the_order_of_the_file() {
    let late_first = Trace::begun().events(3, 5000, &[ALLOC]).events(3, 2000, &[ALLOC]);
    let events = late_first.events(4, 3000, &[ALLOC]).good();
    let found: Vec<_> = events.iter().map(|event| (event.thread.0, event.time.0)).collect();
    assert_eq!(found, [(-1, 1000), (4, 3001), (3, 5001), (3, 5002), (-1, 5003)]);
}

#[test]
fn time_goes_on_where_a_generation_begins_early() {
    let first = Trace::begun().events(3, 5000, &[ALLOC]);
    let events = first.next().events(3, START, &[ALLOC]).good();
    let times: Vec<_> = events.iter().map(|event| event.time.0).collect();
    assert_eq!(times, [1000, 5001, 5002, 5003, 5004]);
}

/// What each event asks of its thread: by name, whether it needs a processor, and a goroutine
/// that runs.
const NEEDS: [(&str, bool, bool); 19] = [
    ("HeapAlloc", true, false),
    ("HeapGoal", true, false),
    ("GCSweepBegin", true, false),
    ("GoCreate", true, false),
    ("GoCreateBlocked", true, false),
    ("ProcsChange", true, true),
    ("GoLabel", true, true),
    ("UserTaskBegin", true, true),
    ("UserTaskEnd", true, true),
    ("UserRegionBegin", true, true),
    ("UserRegionEnd", true, true),
    ("UserLog", true, true),
    ("STWBegin", true, true),
    ("GCMarkAssistBegin", true, true),
    ("GoStop", true, true),
    ("GoBlock", true, true),
    ("GoDestroy", true, true),
    ("GoSyscallBegin", true, true),
    ("HeapObjectAlloc", false, false),
];

#[test]
fn events_need_a_thread_a_processor_and_a_goroutine() {
    let proc: (u8, &[u64]) = (id::PROC_STATUS, &[1, 0, 1]);
    let goroutine: (u8, &[u64]) = (id::GO_STATUS, &[1, 1, 3, 2]);
    for (name, needs_proc, needs_goroutine) in NEEDS {
        let spec = event::TABLE.iter().find(|spec| spec.name == name).unwrap();
        let mut args = vec![1; spec.args.len() + 1];
        for (index, arg) in spec.args.iter().enumerate() {
            args[index + 1] = match arg.name {
                "new_g" => 50,
                name if name.ends_with("stack") || name.ends_with("string") => 0,
                _ => 1,
            };
        }
        let payload = record(spec.id, &args);
        let verdict = |thread, has: &[(u8, &[u64])]| {
            let trace = Trace::begun().events(thread, START, has);
            match trace.batch(thread, START + 9, &payload).read().1.map(|error| error.what) {
                None => None,
                Some(ErrorKind::State { event, error }) if event == spec.id => Some(error),
                other => panic!("{name}: {other:?}"),
            }
        };
        assert_eq!(verdict(NO_THREAD, &[]), Some(StateError::NoThread), "{name}");
        let without = needs_proc.then_some(StateError::NoProc);
        assert_eq!(verdict(3, &[]), without, "{name} on a bare thread");
        let without = needs_goroutine.then_some(StateError::NoGoroutine);
        assert_eq!(verdict(3, &[proc]), without, "{name} without goroutine");
        assert_eq!(verdict(3, &[proc, goroutine]), None, "{name} with all");
    }
}

#[test]
fn an_event_has_the_context_before_it() {
    let list: [(u8, &[u64]); 4] = [
        (id::PROC_STATUS, &[1, 0, 1]),
        (id::GO_STATUS, &[1, 1, 3, 2]),
        (id::HEAP_ALLOC, &[1, 4096]),
        ALLOC,
    ];
    let events = Trace::begun().events(3, START, &list).good();
    assert!(events[1..5].iter().all(|event| event.thread == ThreadId(3)));
    let expected = [
        "M=3 P=-1 G=-1 StateTransition Time=1001 ProcID=0 Undetermined->Running Reason=\"\"",
        "M=3 P=0 G=-1 StateTransition Time=1002 GoID=1 Undetermined->Running Reason=\"\"",
        "M=3 P=0 G=1 Metric Time=1003 Name=\"/memory/classes/heap/objects:bytes\" \
         Value=Value{Uint64(4096)}",
        "M=3 P=0 G=1 Experimental Time=1004 Name=HeapObjectAlloc \
         Args=[id=Value{Uint64(40)}, type=Value{Uint64(0)}]",
    ];
    assert_eq!(lines(&events), expected);
}
