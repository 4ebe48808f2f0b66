//! A second experiment: a row of a table, a view on top, and no change of the reader.

mod support;

use slabscope_trace::{
    Catalog, Error, ErrorKind, Event, Experiment, ExperimentSpec, ExperimentalData,
    ExperimentalEvent, Kind, Open, Reader, Run, Time,
};
use slabscope_wire::event::{Arg, ArgKind, Place, Spec, id};

use support::{START, Trace, stacks};

/// The number of the experiment.
const LOCKS: u8 = 2;

const fn event(id: u8, name: &'static str, args: &'static [Arg]) -> Spec {
    Spec { id, name, args, place: Place::Timed, begins: 0, experiment: LOCKS, since: 26 }
}

const fn number(name: &'static str) -> Arg {
    Arg { name, kind: ArgKind::Number }
}

/// The row.
static CATALOG: Catalog = Catalog::STANDARD.with(ExperimentSpec {
    number: LOCKS,
    name: "Locks",
    events: &[
        event(140, "LockTaken", &[number("lock")]),
        event(141, "LockWaited", &[number("lock"), Arg { name: "stack", kind: ArgKind::Stack }]),
        event(142, "LocksSeen", &[number("a"), number("b"), number("c"), number("d")]),
    ],
});

/// The view.
#[derive(Debug, PartialEq)]
enum Lock {
    Taken { lock: u64 },
    Waited { lock: u64 },
    Seen([u64; 4]),
}

impl Lock {
    fn from_event(event: &ExperimentalEvent) -> Option<Lock> {
        match (event.id, event.args()) {
            (140, &[lock]) => Some(Lock::Taken { lock }),
            (141, &[lock, _]) => Some(Lock::Waited { lock }),
            (142, &[a, b, c, d]) => Some(Lock::Seen([a, b, c, d])),
            _ => None,
        }
    }

    /// The names of locks: its side data.
    fn names(data: &ExperimentalData) -> Vec<&[u8]> {
        data.batches
            .iter()
            .filter(|batch| batch.experiment.number() == LOCKS)
            .flat_map(|batch| batch.data.split(|&byte| byte == b','))
            .collect()
    }
}

fn trace() -> Vec<u8> {
    let trace = Trace::begun()
        .side(LOCKS, b"first,second")
        .side(1, &[1, 0, 1, 1, 1])
        .table(&stacks(&[(7, &[[0x10, 0, 0, 0]])]))
        .events(
            1,
            START,
            &[
                (140, &[5, 1]),
                (id::HEAP_OBJECT_FREE, &[5, 9]),
                (141, &[5, 1, 7]),
                (142, &[5, 1, 2, 3, u64::MAX]),
                (140, &[5, 2]),
            ],
        )
        .end();
    trace.bytes
}

fn read(bytes: &[u8], catalog: &'static Catalog) -> Result<Vec<Event>, Error> {
    Reader::with_catalog(bytes, catalog)?.collect()
}

#[test]
fn its_events_come_with_their_names() {
    let events = read(&trace(), &CATALOG).unwrap();
    let lines: Vec<_> = events.iter().map(Event::to_string).collect();
    assert_eq!(
        lines[1],
        "M=1 P=-1 G=-1 Experimental Time=1005 Name=LockTaken Args=[lock=Value{Uint64(1)}]"
    );
    assert!(lines[3].contains("Name=LockWaited") && lines[3].contains("0x10"), "{}", lines[3]);
    let experiments: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.kind {
            Kind::Experimental(event) => Some(event.experiment().name()),
            _ => None,
        })
        .collect();
    assert_eq!(experiments, ["Locks", "AllocFree", "Locks", "Locks", "Locks"]);
}

#[test]
fn its_view_sees_its_own() {
    let events = read(&trace(), &CATALOG).unwrap();
    let seen: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.kind {
            Kind::Experimental(event) => Lock::from_event(event),
            _ => None,
        })
        .collect();
    assert_eq!(
        seen,
        [
            Lock::Taken { lock: 1 },
            Lock::Waited { lock: 1 },
            Lock::Seen([1, 2, 3, u64::MAX]),
            Lock::Taken { lock: 2 },
        ]
    );
    let Kind::Sync(sync) = &events[0].kind else { panic!("a trace begins with a sync event") };
    assert_eq!(Lock::names(&sync.experimental), [&b"first"[..], b"second"]);
    let names: Vec<_> =
        sync.experimental.batches.iter().map(|batch| batch.experiment.name()).collect();
    assert_eq!(names, ["Locks", "AllocFree"]);
}

#[test]
fn runs_and_threads_that_read_ahead_have_them_too() {
    let bytes = trace();
    let times = Open::with_catalog(&bytes, &CATALOG).unwrap().ahead(|mut reader| {
        let mut times = Vec::new();
        while let Some(run) = reader.next_run() {
            match run.unwrap() {
                Run::Event(event) => times.push(event.time),
                Run::Experimental(run) => times.extend(run.map(|event| event.time)),
            }
        }
        times
    });
    let expected: Vec<Time> =
        read(&bytes, &CATALOG).unwrap().iter().map(|event| event.time).collect();
    assert_eq!(times, expected);
}

#[test]
fn without_the_row_its_events_are_an_error_and_its_data_has_no_name() {
    let (events, error) = support::read(&trace());
    assert_eq!(error.unwrap().what, ErrorKind::UnknownEvent(140));
    assert!(events.is_empty());
    let bytes = Trace::begun().side(LOCKS, b"first").end().bytes;
    let (events, _) = support::read(&bytes);
    let Kind::Sync(sync) = &events[0].kind else { panic!("a trace begins with a sync event") };
    let batch = &sync.experimental.batches[0];
    assert_eq!((batch.experiment.name(), &*batch.data), ("unknown", &b"first"[..]));
    assert_eq!(batch.experiment, Experiment::Other { number: LOCKS, name: None });
}
