//! Whole traces through the public interface: what is counted, and what is found wrong.

#[path = "support/trace_builder.rs"]
mod trace_builder;

use slabscope_analysis::{
    Amount, End, Extent, FaultKind, Finding, Origin, Report, StackAmount, State, Window, analyze,
};
use slabscope_trace::Open;
use slabscope_wire::alloc_free::EndReason;
use slabscope_wire::event::id;
use trace_builder::{CLASS_48, TraceBuilder, sound};

fn report(trace: &TraceBuilder) -> Report {
    analyze(Open::bytes(&trace.bytes).unwrap(), Window::default(), &mut |_| {})
        .expect("the header is right")
}

fn amount(objects: u64, bytes: u64) -> Amount {
    Amount { objects, bytes }
}

fn closed() -> TraceBuilder {
    let mut trace = sound();
    trace.closing(EndReason::Exited, [0; 9]).end();
    trace
}

#[test]
fn a_sound_trace_is_counted_and_found_sound() {
    let report = report(&closed());
    assert_eq!(report.verify().findings, []);
    assert_eq!(report.completeness.state, State::Complete);
    assert_eq!(report.completeness.end, Some(End::Exited));
    assert_eq!(report.tracing.origin, Origin::Slabscope);
    assert_eq!(report.tracing.generations, 2);
    // Events at one time are set a nanosecond apart by the reader; the last three are.
    assert_eq!(report.tracing.duration_ns, 1_001_001_500 + 2);
    assert_eq!(report.tracing.build["pid"], "12");
    let counts: Vec<_> = report.events.heap.iter().map(|row| row.count).collect();
    assert_eq!(counts, [1, 2, 2, 1, 4, 3, 1, 1, 1]);
    let objects = &report.objects;
    let large = 13 * 8192;
    assert_eq!(objects.existed, amount(1, 48));
    assert_eq!(objects.allocated, amount(4, large + 3 * 48));
    assert_eq!(objects.freed, amount(3, large + 2 * 48));
    assert_eq!(objects.live, amount(2, 2 * 48));
    assert_eq!(objects.requested.bytes, 100_000 + 3 * 40);
    assert_eq!(objects.requested.slack_bytes, large - 100_000 + 3 * 8);
    assert_eq!((objects.peak.objects, objects.peak.bytes), (3, large + 2 * 48));
    assert_eq!(objects.peak.at.since_start_ns, 500_002);
    assert_eq!(objects.peak.at.unix_ns, Some(1_000_000 * 1_000_000_000 + 500_002));
}

#[test]
fn classes_threads_spans_and_stacks_add_up() {
    let report = report(&closed());
    let classes: Vec<_> = report.classes.iter().map(|row| (row.slot_bytes, row.live)).collect();
    assert_eq!(classes, [(Some(48), amount(2, 96)), (None, amount(0, 0))]);
    assert_eq!(report.classes[0].existed, amount(1, 48));
    assert_eq!(report.classes[0].requested.slack_part(), Some(24.0 / 144.0));
    let [main, worker] = &report.threads[..] else { panic!("{:?}", report.threads) };
    assert_eq!((main.id, main.name.as_str()), (7, "main"));
    assert_eq!(worker.start.map(|at| at.since_start_ns), Some(100_000));
    assert_eq!(main.allocated.objects, 3);
    assert_eq!(main.freed, amount(2, 96));
    // The object that existed is not known to be another thread's.
    assert_eq!(main.freed_of_others, amount(1, 48));
    assert_eq!(main.freed_by_others, amount(1, 13 * 8192));
    assert_eq!(worker.freed_by_others, amount(1, 48));
    let spans = &report.spans;
    assert_eq!(spans.existed, Extent { spans: 1, pages: 1 });
    assert_eq!(spans.peak, Extent { spans: 3, pages: 22 });
    assert_eq!(spans.live, Extent { spans: 1, pages: 1 });
    assert_eq!(spans.kinds.len(), 1);
    assert_eq!(spans.kinds[0].occupancy(), Some(96.0 / 8192.0));
    let stacks = &report.stacks;
    assert_eq!(stacks.existed, StackAmount { stacks: 1, bytes: 8 << 20 });
    assert_eq!(stacks.peak, StackAmount { stacks: 2, bytes: (8 << 20) + 65_536 });
    assert_eq!(stacks.live, stacks.existed);
}

#[test]
fn counts_tell_of_lost_and_of_missing_events() {
    let mut lost = sound();
    lost.closing(EndReason::WriteFailed, [0, 0, 0, 0, 2, 1, 0, 0, 0]).end();
    let lost = report(&lost);
    assert_eq!((lost.completeness.state, lost.completeness.lost()), (State::Lost, 3));
    let findings = lost.verify().findings;
    assert_eq!(findings.len(), 3, "{findings:?}");
    assert!(findings.contains(&Finding::WriteFailed));

    let mut missing = sound();
    let happened = missing.counts.map(|count| count + 1);
    missing.closing_of(EndReason::Stopped, happened, [0; 9]).end();
    let missing = report(&missing);
    assert_eq!(missing.completeness.state, State::Miscounted);
    assert_eq!(missing.verify().findings.len(), 9);
}

#[test]
fn a_trace_of_ours_without_counts_was_cut_off() {
    let mut trace = sound();
    trace.end();
    let report = report(&trace);
    assert_eq!(report.completeness.state, State::CutOff);
    assert_eq!(report.verify().findings, [Finding::NoClosingCounts]);
}

#[test]
fn what_cannot_have_happened_is_found_with_its_place() {
    let mut trace = TraceBuilder::new();
    trace.begin(100).build(&[("writer", "x")]).sites(&[(1, 8)]);
    trace.events(
        7,
        200,
        &[
            (id::SPAN_ALLOC, 0, &[0, 1, CLASS_48]),
            (id::HEAP_OBJECT_FREE, 5, &[6]),
            (id::HEAP_OBJECT_ALLOC, 5, &[6, 99]),
        ],
    );
    trace.closing(EndReason::Exited, [0; 9]).end();
    let report = report(&trace);
    assert_eq!(report.unknown_sites, 1);
    let [fault] = &report.faults[..] else { panic!("{:?}", report.faults) };
    assert_eq!((fault.kind, fault.count), (FaultKind::FreeWithoutAlloc, 1));
    let example = &fault.examples[0];
    assert_eq!((example.at.since_start_ns, example.thread, example.id), (105, 7, 6));
    assert_eq!(example.event, "HeapObjectFree");
    assert_eq!(report.verify().findings.len(), 2);
}

#[test]
fn examples_are_few_and_counts_exact() {
    let mut trace = TraceBuilder::new();
    trace.begin(100);
    let free: trace_builder::TimedEvent = (id::HEAP_OBJECT_FREE, 1, &[6]);
    trace.events(7, 200, &[free; 1000]).end();
    let report = report(&trace);
    assert_eq!(report.faults[0].count, 1000);
    assert!(report.faults[0].examples.len() <= 5);
    assert_eq!(report.tracing.origin, Origin::Go);
}

#[test]
fn a_torn_trace_is_reported_up_to_the_tear() {
    let whole = closed();
    let second = sound().bytes.len() - 60;
    let report =
        analyze(Open::bytes(&whole.bytes[..second]).unwrap(), Window::default(), &mut |_| {})
            .unwrap();
    let error = report.error.clone().expect("it is torn");
    assert!(error.is_cut_off && error.offset <= second as u64, "{error:?}");
    assert_eq!(report.tracing.generations, 1);
    assert_eq!(report.objects.allocated.objects, 3);
    assert_eq!(report.completeness.state, State::Broken);
    assert!(matches!(report.verify().findings[0], Finding::Broken(_)));
}

#[test]
fn broken_side_data_are_a_finding_and_no_more() {
    let mut trace = sound();
    trace.side(99, &[1, 2, 3]);
    for _ in 0..50 {
        trace.side(98, &[]);
    }
    trace.closing(EndReason::Stopped, [0; 9]).end();
    let report = report(&trace);
    assert_eq!(report.side_problem_count, 51);
    let findings = report.verify().findings;
    assert!(matches!(findings.last(), Some(Finding::MoreSideData { count }) if *count > 0));
    assert_eq!(report.completeness.state, State::Complete);
}

#[test]
fn progress_ends_with_the_whole_file() {
    let trace = closed();
    let mut last = 0;
    analyze(Open::bytes(&trace.bytes).unwrap(), Window::default(), &mut |read| last = read)
        .unwrap();
    assert_eq!(last, trace.bytes.len() as u64);
}

/// Slots are found ahead of the replay by what can be known then.
#[test]
fn what_was_found_ahead_is_not_believed_of_pages_of_another_size() {
    const PAGES: [u64; 2] = [3 * 512, 6 * 512];
    let mut trace = TraceBuilder::new();
    trace.begin(1_000).info_of_pages(4096).build(&[("writer", "x")]).sites(&[(1, 40)]).events(
        7,
        1_000,
        &[
            (id::SPAN_ALLOC, 1, &[3, 1, CLASS_48]),
            (id::SPAN_ALLOC, 1, &[6, 1, CLASS_48]),
            (id::HEAP_OBJECT_ALLOC, 1, &[PAGES[0] + 6, 1]),
            // With pages of 8 KiB this would be in the first of the two spans.
            (id::HEAP_OBJECT_ALLOC, 1, &[PAGES[1] + 6, 1]),
            (id::HEAP_OBJECT_FREE, 1, &[PAGES[0] + 6]),
            (id::SPAN_FREE, 1, &[3]),
        ],
    );
    trace.closing(EndReason::Exited, [0; 9]).end();
    let report = report(&trace);
    assert_eq!(report.verify().findings, []);
    assert_eq!((report.objects.allocated, report.objects.live), (amount(2, 96), amount(1, 48)));
}

#[test]
fn what_was_found_ahead_is_not_believed_once_a_span_could_not_be_seen() {
    const TOO_LARGE: u64 = 1 << 40;
    let mut trace = TraceBuilder::new();
    trace.begin(1_000).info().build(&[("writer", "x")]).sites(&[(1, 40)]);
    // No plain event is so large; from there on the reader has the generation to itself.
    trace.events(
        7,
        1_000,
        &[
            (id::SPAN_ALLOC, 1, &[500, 1, TOO_LARGE]),
            (id::SPAN_ALLOC, 1, &[3, 1, CLASS_48]),
            (id::HEAP_OBJECT_ALLOC, 1, &[3 * 1024, 1]),
            (id::HEAP_OBJECT_ALLOC, 1, &[3 * 1024 + 6, 1]),
        ],
    );
    trace.end().begin(2_000).info().build(&[("writer", "x")]).sites(&[(1, 40)]).events(
        7,
        2_000,
        &[
            (id::SPAN_ALLOC, 1, &[5, 1, CLASS_48]),
            (id::HEAP_OBJECT_ALLOC, 1, &[5 * 1024, 1]),
            (id::HEAP_OBJECT_FREE, 1, &[3 * 1024]),
            (id::HEAP_OBJECT_FREE, 1, &[5 * 1024]),
        ],
    );
    trace.closing(EndReason::Exited, [0; 9]).end();
    let report = report(&trace);
    assert_eq!((report.objects.allocated, report.objects.live), (amount(3, 144), amount(1, 48)));
    let faults: Vec<_> = report.faults.iter().map(|row| (row.kind, row.count)).collect();
    assert_eq!(faults, [(FaultKind::SpanOfUnknownClass, 1)]);
}
