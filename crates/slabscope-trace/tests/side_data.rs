//! The AllocFree experiment: events of which nothing is asked but a thread, and side data the
//! reader passes on as it is.

mod support;

use slabscope_trace::alloc_free::AllocFree;
use slabscope_trace::{ErrorKind, Experiment, ExperimentalEvent, Kind, StateError, Time};
use slabscope_wire::batch::NO_THREAD;
use slabscope_wire::event::{TABLE, id};

use support::{START, Trace, record};

#[test]
fn events_need_a_thread_and_nothing_else() {
    let mut visited = 0;
    for spec in TABLE.iter().filter(|spec| spec.is_experimental()) {
        let args = [7, 300, u64::MAX, 1 << 40];
        let payload = record(spec.id, &args[..spec.args.len() + 1]);
        let twice = [payload.clone(), payload.clone()].concat();
        let events = Trace::begun().batch(3, START, &twice).good();
        let Kind::Experimental(event) = events[2].kind else {
            panic!("{}: {:?}", spec.name, events[2]);
        };
        assert_eq!(event.args(), &args[1..spec.args.len() + 1]);
        assert_eq!((event.name(), event.experiment()), (spec.name, Experiment::AllocFree));
        assert_eq!(events[2].time, Time(1014));
        assert!(AllocFree::from_event(&event).is_some());
        let error = Trace::begun().batch(NO_THREAD, START, &payload).error().what;
        assert_eq!(error, ErrorKind::State { event: spec.id, error: StateError::NoThread });
        visited += 1;
    }
    assert_eq!(visited, 9);
}

#[test]
fn arguments_have_names() {
    let typed = |id, args| AllocFree::from_event(&ExperimentalEvent::new(id, args).unwrap());
    let args = [1, 2, 3, 0];
    for (id, expected) in [
        (id::SPAN, AllocFree::Span { id: 1, pages: 2, kindclass: 3 }),
        (id::SPAN_ALLOC, AllocFree::SpanAlloc { id: 1, pages: 2, kindclass: 3 }),
        (id::SPAN_FREE, AllocFree::SpanFree { id: 1 }),
        (id::HEAP_OBJECT, AllocFree::HeapObject { id: 1, ty: 2 }),
        (id::HEAP_OBJECT_ALLOC, AllocFree::HeapObjectAlloc { id: 1, ty: 2 }),
        (id::HEAP_OBJECT_FREE, AllocFree::HeapObjectFree { id: 1 }),
        (id::GOROUTINE_STACK, AllocFree::Stack { id: 1, order: 2 }),
        (id::GOROUTINE_STACK_ALLOC, AllocFree::StackAlloc { id: 1, order: 2 }),
        (id::GOROUTINE_STACK_FREE, AllocFree::StackFree { id: 1 }),
    ] {
        assert_eq!(typed(id, args), Some(expected));
    }
    assert_eq!(ExperimentalEvent::new(id::GO_STOP, args), None);
    assert_eq!(ExperimentalEvent::new(137, args), None);
}

#[test]
fn side_data_is_passed_on_unread_with_its_generation() {
    let garbage = [200, 0xff, 0xff, 0];
    let trace = Trace::begun().side(1, &garbage).side(1, &[]).side(9, &[1]);
    let events = trace.next().side(1, &[64]).good();
    let data: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.kind {
            Kind::Sync(sync) => Some(&sync.experimental.batches),
            _ => None,
        })
        .collect();
    let found: Vec<Vec<(u8, &[u8])>> = data
        .iter()
        .map(|batches| batches.iter().map(|b| (b.experiment.number(), &*b.data)).collect())
        .collect();
    let empty: &[u8] = &[];
    assert_eq!(found, [vec![(1, &garbage[..]), (1, empty), (9, &[1])], vec![(1, &[64])], vec![]]);
    assert_eq!(data[0][2].experiment, Experiment::Other { number: 9, name: None });
}
