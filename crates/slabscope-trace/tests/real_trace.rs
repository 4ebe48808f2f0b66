//! What a real trace of Go 1.27 holds, against what Go's own tool says of it.
//!
//! The two sums are those of that tool's output. With a Go of version 1.27.3:
//! `TZ= go tool trace -d=parsed FILE | sha256sum`, and the same with `-d=wire`.

mod support;

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};
use slabscope_trace::alloc_free::GenerationData;
use slabscope_trace::{Event, Kind, Reader, dump};
use slabscope_wire::alloc_free::{OBJECT_ALIGN, PAGE_SIZE, STACK_ALIGN};

use support::{REAL, read};

const PARSED_SHA256: &str = "fbe11a7ad0b17c5174dae354b3ded5b035ad444f16f177391490bd30a6162787";
const WIRE_SHA256: &str = "ae39cacbfd5924b6cdf9355deb3b65a70013fb2206188268039428c3e08dde82";

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn events() -> Vec<Event> {
    let (events, error) = read(REAL);
    assert_eq!(error, None);
    events
}

#[test]
fn the_dump_of_events_is_gos() {
    let mut out = Vec::new();
    for event in events() {
        dump::parsed(&event, &mut out).unwrap();
    }
    assert_eq!(out.iter().filter(|&&byte| byte == b'\n').count(), 51_419);
    assert_eq!(sha256(&out), PARSED_SHA256);
}

#[test]
fn the_dump_of_records_is_gos() {
    let mut out = Vec::new();
    assert_eq!(dump::wire(REAL, &mut out).unwrap(), Ok(()));
    assert_eq!(out.iter().filter(|&&byte| byte == b'\n').count(), 47_442);
    assert_eq!(sha256(&out), WIRE_SHA256);
}

#[test]
fn events_of_each_kind_are_counted() {
    let events = events();
    let mut counts = BTreeMap::new();
    for event in &events {
        let name = match &event.kind {
            Kind::Experimental(event) => event.name(),
            kind => kind.name(),
        };
        *counts.entry(name).or_insert(0) += 1;
    }
    let expected = [
        ("GoroutineStack", 5),
        ("GoroutineStackAlloc", 34),
        ("GoroutineStackFree", 27),
        ("HeapObject", 131),
        ("HeapObjectAlloc", 24_612),
        ("HeapObjectFree", 20_424),
        ("Label", 13),
        ("Metric", 417),
        ("RangeBegin", 10),
        ("RangeEnd", 10),
        ("Span", 42),
        ("SpanAlloc", 367),
        ("SpanFree", 360),
        ("StateTransition", 603),
        ("Sync", 2),
    ];
    assert_eq!(counts, BTreeMap::from(expected));
    let last = events.last().unwrap().to_string();
    assert_eq!(last, "M=-1 P=-1 G=-1 Sync Time=5906092938305 N=2");
}

#[test]
fn time_goes_on_from_event_to_event() {
    let events = events();
    let later = events.windows(2).filter(|pair| pair[0].time < pair[1].time).count();
    assert_eq!(later, events.len() - 1);
}

#[test]
fn the_side_data_says_what_ids_mean() {
    let events = events();
    let Kind::Sync(sync) = &events[0].kind else {
        panic!("a trace begins with a sync event");
    };
    assert_eq!(sync.clock.unwrap().mono, 5_906_084_060_891);
    let data = GenerationData::parse(&sync.experimental);
    assert_eq!(data.problems, []);
    let info = data.info.unwrap();
    let units = (info.page_size, info.min_heap_align, info.min_stack_align);
    assert_eq!(units, (PAGE_SIZE, OBJECT_ALIGN, STACK_ALIGN));
    assert!(data.types.iter().any(|ty| ty.name == "main.Node" && ty.size == 24));
    assert_eq!(data.closing, None);
}

#[test]
fn the_reader_says_how_far_it_is() {
    let mut reader = Reader::new(REAL).unwrap();
    assert_eq!((reader.version(), reader.offset()), (26, 16));
    assert!(reader.by_ref().all(|event| event.is_ok()));
    assert_eq!(reader.offset(), REAL.len() as u64);
    assert!(reader.next().is_none());
}
