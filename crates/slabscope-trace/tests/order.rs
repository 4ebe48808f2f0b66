//! Events of Go's scheduler: sequence numbers put them in order across threads, and states say
//! which may happen at all.

mod support;

use slabscope_trace::{ErrorKind, Event, GoId, ProcId, StateError, TaskId, ThreadId};
use slabscope_wire::event::id;

use support::{START, Trace, lines, strings};

/// Thread 3 has processor 0 and runs goroutine 1.
const RUNNING: [(u8, &[u64]); 2] = [(id::PROC_STATUS, &[1, 0, 1]), (id::GO_STATUS, &[1, 1, 3, 2])];

fn running() -> Trace {
    Trace::begun().events(3, START, &RUNNING)
}

/// What `list` comes to on the thread of [`running`].
fn then(list: &[(u8, &[u64])]) -> Result<Vec<Event>, ErrorKind> {
    let (events, error) = running().events(3, START + 5, list).read();
    error.map_or(Ok(events), |error| Err(error.what))
}

fn state(event: u8, error: StateError) -> ErrorKind {
    ErrorKind::State { event, error }
}

/// Lines less what is before the kind of event.
fn changes(events: &[Event]) -> Vec<String> {
    lines(events)
        .iter()
        .filter(|line| line.contains("StateTransition"))
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            [words[0], words[5], words[6]].join(" ")
        })
        .collect()
}

#[test]
fn a_start_waits_for_the_events_it_follows() {
    let creates: [(u8, &[u64]); 2] = [(id::GO_CREATE, &[50, 7, 0, 0]), (id::GO_STOP, &[50, 0, 0])];
    // On thread 4 the clock is behind: goroutine 7 starts there before it is created.
    let starts: [(u8, &[u64]); 2] = [(id::PROC_STATUS, &[1, 1, 1]), (id::GO_START, &[1, 7, 1])];
    let trace = running().events(3, START + 5, &creates).events(4, START + 10, &starts);
    let found = changes(&trace.good());
    let expected = [
        "M=3 ProcID=0 Undetermined->Running",
        "M=3 GoID=1 Undetermined->Running",
        "M=4 ProcID=1 Undetermined->Running",
        "M=3 GoID=7 NotExist->Runnable",
        "M=4 GoID=7 Runnable->Running",
        "M=3 GoID=1 Running->Runnable",
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_waits_in_vain_is_an_error() {
    let stuck = |list: &[(u8, &[u64])]| {
        let event = list.last().unwrap().0;
        assert_eq!(then(list).err(), Some(ErrorKind::Stuck(event)), "{list:?}");
    };
    stuck(&[(id::GO_START, &[1, 7, 1])]);
    stuck(&[(id::GO_STATUS, &[1, 7, 3, 4]), (id::GO_UNBLOCK, &[1, 7, 2, 0])]);
    stuck(&[(id::GO_STATUS, &[1, 7, 3, 1]), (id::GO_UNBLOCK, &[1, 7, 1, 0])]);
    stuck(&[(id::GO_SWITCH, &[1, 7, 1])]);
    stuck(&[(id::PROC_START, &[1, 5, 1])]);
    stuck(&[(id::PROC_STATUS, &[1, 5, 2]), (id::PROC_START, &[1, 5, 1])]);
    stuck(&[(id::PROC_STEAL, &[1, 0, 1, 3])]);
    stuck(&[(id::GC_END, &[1, 9])]);
}

#[test]
fn a_switch_is_three_changes() {
    let waiting: (u8, &[u64]) = (id::GO_STATUS, &[1, 7, 3, 4]);
    let after_status =
        |switch| changes(&then(&[waiting, (switch, &[1, 7, 1])]).unwrap())[3..].join(", ");
    assert_eq!(
        after_status(id::GO_SWITCH),
        "M=3 GoID=7 Waiting->Runnable, M=3 GoID=1 Running->Waiting, M=3 GoID=7 Runnable->Running"
    );
    assert_eq!(
        after_status(id::GO_SWITCH_DESTROY),
        "M=3 GoID=7 Waiting->Runnable, M=3 GoID=1 Running->NotExist, M=3 GoID=7 Runnable->Running"
    );
    let events = then(&[waiting, (id::GO_SWITCH, &[1, 7, 1])]).unwrap();
    let running: Vec<_> = events[4..7].iter().map(|event| event.goroutine).collect();
    assert_eq!(running, [GoId(1), GoId(1), GoId::NONE]);
}

#[test]
fn goroutines_are_created_once() {
    let twice: [(u8, &[u64]); 2] = [(id::GO_CREATE, &[1, 7, 0, 0]), (id::GO_CREATE, &[1, 7, 0, 0])];
    assert_eq!(then(&twice).err(), Some(state(id::GO_CREATE, StateError::GoExists(GoId(7)))));
    let foreign: [(u8, &[u64]); 2] =
        [(id::GO_CREATE_SYSCALL, &[1, 8]), (id::GO_DESTROY_SYSCALL, &[1])];
    let found = running().events(9, START + 5, &foreign).events(9, START + 9, &foreign).good();
    let expected = ["M=9 GoID=8 NotExist->Syscall", "M=9 GoID=8 Syscall->NotExist"].repeat(2);
    assert_eq!(changes(&found)[2..], expected);
}

#[test]
fn a_status_must_be_the_one_that_is_known() {
    let differs = StateError::GoStatusDiffers(GoId(1));
    assert_eq!(then(&[(id::GO_STATUS, &[1, 1, 3, 4])]).err(), Some(state(id::GO_STATUS, differs)));
    let differs = StateError::ProcStatusDiffers(ProcId(0));
    assert_eq!(then(&[(id::PROC_STATUS, &[1, 0, 2])]).err(), Some(state(id::PROC_STATUS, differs)));
    let bad = StateError::BadStatus(9);
    assert_eq!(then(&[(id::GO_STATUS, &[1, 9, 3, 9])]).err(), Some(state(id::GO_STATUS, bad)));
    assert_eq!(then(&[(id::PROC_STATUS, &[1, 9, 9])]).err(), Some(state(id::PROC_STATUS, bad)));
}

#[test]
fn after_the_first_generation_goroutines_are_born() {
    let unknown: (u8, &[u64]) = (id::GO_STATUS, &[1, 9, 3, 4]);
    let late = running().next().events(3, 2000, &RUNNING).events(3, 2010, &[unknown]);
    let error = state(id::GO_STATUS, StateError::GoStatusLate(GoId(9)));
    assert_eq!(late.error().what, error);
    let born: [(u8, &[u64]); 4] = [
        (id::GO_CREATE, &[1, 9, 0, 0]),
        (id::GO_STOP, &[1, 0, 0]),
        (id::GO_START, &[1, 9, 1]),
        (id::GO_DESTROY, &[1]),
    ];
    running().next().events(3, 2000, &RUNNING).events(3, 2010, &born).good();
    // A processor may turn up at any time.
    running().next().events(4, 2000, &[(id::PROC_STATUS, &[1, 5, 1])]).good();
}

#[test]
fn states_outlive_generations_and_sequence_numbers_do_not() {
    let plain: [(u8, &[u64]); 2] = [(id::HEAP_ALLOC, &[1, 4096]), (id::GO_STOP, &[1, 0, 0])];
    running().next().events(3, 2000, &plain).good();
    let starts: [(u8, &[u64]); 3] = [plain[0], plain[1], (id::GO_START, &[1, 1, 1])];
    let error = running().next().events(3, 2000, &starts).error().what;
    assert_eq!(error, ErrorKind::Stuck(id::GO_START));
    running().next().events(3, 2000, &RUNNING).events(3, 2010, &starts).good();
}

#[test]
fn a_generation_with_a_birth_cannot_be_left_out() {
    let create: (u8, &[u64]) = (id::GO_CREATE, &[1, 7, 0, 0]);
    let runnable: (u8, &[u64]) = (id::GO_STATUS, &[1, 7, 3, 1]);
    let last = |trace: Trace| trace.next().events(3, 3000, &RUNNING).events(3, 3010, &[runnable]);
    last(running().next().events(3, 2000, &RUNNING).events(3, 2010, &[create])).good();
    let error = last(running()).error().what;
    assert_eq!(error, state(id::GO_STATUS, StateError::GoStatusLate(GoId(7))));
}

#[test]
fn two_threads_may_claim_a_processor() {
    let claim: (u8, &[u64]) = (id::PROC_STATUS, &[1, 0, 1]);
    let both = Trace::begun().events(3, START, &[claim]).events(4, START, &[claim]);
    let heap: (u8, &[u64]) = (id::HEAP_ALLOC, &[1, 8]);
    both.events(3, START + 5, &[heap]).events(4, START + 5, &[heap]).good();
}

#[test]
fn a_processor_is_stolen_from_a_system_call() {
    let away: (u8, &[u64]) = (id::GO_SYSCALL_BEGIN, &[1, 1, 0]);
    let back: (u8, &[u64]) = (id::GO_SYSCALL_END_BLOCKED, &[1]);
    let thief: [(u8, &[u64]); 2] = [(id::PROC_STEAL, &[90, 0, 2, 3]), (id::PROC_START, &[1, 0, 3])];
    // By the clocks it is back before the theft.
    let trace = running().events(3, START + 5, &[away, back]).events(4, START, &thief);
    let expected = [
        "M=3 GoID=1 Running->Syscall",
        "M=4 ProcID=0 Running->Idle",
        "M=3 GoID=1 Syscall->Runnable",
        "M=4 ProcID=0 Idle->Running",
    ];
    assert_eq!(changes(&trace.good())[2..], expected);
    let not_next: (u8, &[u64]) = (id::GO_SYSCALL_BEGIN, &[1, 2, 0]);
    let error = state(id::GO_SYSCALL_BEGIN, StateError::ProcSequence(ProcId(0)));
    assert_eq!(then(&[not_next]).err(), Some(error));
    then(&[away, (id::GO_SYSCALL_END, &[1]), (id::GO_STOP, &[1, 0, 0])]).unwrap();
    let unknown = running().events(3, START + 5, &[away]).events(
        4,
        START,
        &[(id::PROC_STEAL, &[90, 0, 2, 8])],
    );
    let error = state(id::PROC_STEAL, StateError::UnknownThread(ThreadId(8)));
    assert_eq!(unknown.error().what, error);
}

#[test]
fn regions_nest_by_task_and_name() {
    let with = |list: &[(u8, &[u64])]| {
        let names = strings(&[(1, b"outer"), (2, b"inner")]);
        running().table(&names).events(3, START + 5, list).read().1.map(|error| error.what)
    };
    let begin = |task, name| [1, task, name, 0];
    let (outer, inner, other) = (begin(1, 1), begin(1, 2), begin(2, 1));
    let (on, off) = (id::USER_REGION_BEGIN, id::USER_REGION_END);
    assert_eq!(with(&[(on, &outer), (on, &inner), (off, &inner), (off, &outer)]), None);
    assert_eq!(with(&[(off, &outer)]), None, "it began before the trace");
    let mismatch = Some(state(off, StateError::RegionMismatch(GoId(1))));
    assert_eq!(with(&[(on, &outer), (on, &inner), (off, &outer)]), mismatch);
    assert_eq!(with(&[(on, &outer), (off, &other)]), mismatch);
}

#[test]
fn tasks_begin_once() {
    let begin: (u8, &[u64]) = (id::USER_TASK_BEGIN, &[1, 5, 0, 0, 0]);
    let end: (u8, &[u64]) = (id::USER_TASK_END, &[1, 5, 0]);
    let exists = StateError::TaskExists(TaskId(5));
    assert_eq!(then(&[begin, begin]).err(), Some(state(id::USER_TASK_BEGIN, exists)));
    then(&[begin, end, begin, end, end]).unwrap();
}

#[test]
fn ranges_of_time_pair_up() {
    for (begin, end) in [
        (id::STW_BEGIN, id::STW_END),
        (id::GC_MARK_ASSIST_BEGIN, id::GC_MARK_ASSIST_END),
        (id::GC_SWEEP_BEGIN, id::GC_SWEEP_END),
    ] {
        let on: (u8, &[u64]) = (begin, if begin == id::STW_BEGIN { &[1, 0, 0] } else { &[1, 0] });
        let off: (u8, &[u64]) = (end, if end == id::GC_SWEEP_END { &[1, 9, 9] } else { &[1] });
        then(&[on, off, on, off]).unwrap();
        assert_eq!(then(&[on, on]).err(), Some(state(begin, StateError::RangeExists)));
        assert_eq!(then(&[off]).err(), Some(state(end, StateError::RangeMissing)));
    }
}

#[test]
fn collections_count_up_by_one() {
    then(&[(id::GC_BEGIN, &[1, 7, 0]), (id::GC_END, &[1, 8]), (id::GC_BEGIN, &[1, 9, 0])]).unwrap();
    then(&[(id::GC_ACTIVE, &[1, 7]), (id::GC_END, &[1, 8])]).unwrap();
    for (event, args) in [(id::GC_END, &[1, 9][..]), (id::GC_BEGIN, &[1, 10, 0])] {
        let list: [(u8, &[u64]); 2] = [(id::GC_BEGIN, &[1, 7, 0]), (event, args)];
        assert_eq!(then(&list).err(), Some(ErrorKind::Stuck(event)));
    }
    let twice: [(u8, &[u64]); 2] = [(id::GC_BEGIN, &[1, 7, 0]), (id::GC_BEGIN, &[1, 8, 0])];
    assert_eq!(then(&twice).err(), Some(state(id::GC_BEGIN, StateError::GcRunning)));
}
