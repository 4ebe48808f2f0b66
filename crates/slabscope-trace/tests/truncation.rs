//! Traces that end too early, wherever: all whole generations are delivered, and then an error
//! says where the file ended, unless nothing is missing.

mod support;

use slabscope_trace::{Event, dump};
use slabscope_wire::event::id;
use slabscope_wire::header;

use support::{REAL, Trace, read, stacks, strings};

/// Three generations with tables, side data, samples and a scheduler's events, and where each
/// ends.
fn small() -> (Vec<u8>, Vec<usize>) {
    let status: [(u8, &[u64]); 2] = [(id::PROC_STATUS, &[1, 0, 1]), (id::GO_STATUS, &[1, 1, 3, 2])];
    let heap: [(u8, &[u64]); 3] = [
        (id::SPAN_ALLOC, &[3, 2, 1, 22]),
        (id::HEAP_OBJECT_ALLOC, &[300, 70_000, 1]),
        (id::HEAP_OBJECT_FREE, &[0, 70_000]),
    ];
    let mut trace = Trace::begun();
    let mut ends = Vec::new();
    for generation in 1..=3 {
        let time = generation * 10_000;
        trace = trace
            .table(&strings(&[(1, b"main.work"), (2, b"main.rs")]))
            .table(&stacks(&[(1, &[[0x4000, 1, 2, 12], [0x5000, 1, 2, 15]])]))
            .side(1, &[1, 0, 0x80, 0x40, 8, 0x80, 0x10])
            .table(&[id::CPU_SAMPLES, id::CPU_SAMPLE, 0xd0, 0x0f, 3, 0, 1, 1])
            .events(3, time, &status)
            .events(4, time + 5, &heap)
            .events(3, time + 9, &[(id::USER_LOG, &[1, 0, 1, 2, 1])]);
        ends.push(trace.bytes.len() + 1);
        trace = if generation < 3 { trace.next() } else { trace.end() };
    }
    (trace.bytes, ends)
}

fn dumped(events: &[Event]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

#[test]
fn a_small_trace_cut_anywhere_delivers_its_whole_generations() {
    let (bytes, ends) = small();
    let (all, error) = read(&bytes);
    assert_eq!((all.len(), error), (3 * 8 + 1, None));
    for len in 0..bytes.len() {
        let (events, error) = read(&bytes[..len]);
        if len < header::LEN {
            assert!(events.is_empty() && error.is_some(), "cut at {len}");
            continue;
        }
        let whole = ends.iter().filter(|&&end| end <= len).count();
        let expected = &all[..whole * 8];
        assert_eq!(dumped(&events[..events.len() - 1]), dumped(expected), "cut at {len}");
        assert_eq!(events.last().unwrap().kind.name(), "Sync", "cut at {len}");
        match error {
            Some(error) => assert!(error.offset <= len as u64, "cut at {len}: {error}"),
            None => {
                assert!(len == header::LEN || !has_events(&bytes[..len], &ends), "cut at {len}")
            }
        }
    }
}

/// Whether the last generation, which is cut off, has a whole batch of events.
fn has_events(bytes: &[u8], ends: &[usize]) -> bool {
    let begin = ends.iter().filter(|&&end| end <= bytes.len()).max();
    let rest = &bytes[*begin.unwrap_or(&header::LEN)..];
    let batch = [id::PROC_STATUS, 1, 0, 1, id::GO_STATUS, 1, 1, 3, 2];
    rest.windows(batch.len()).any(|window| window == batch)
}

#[test]
fn a_real_trace_cut_anywhere_delivers_its_whole_generations() {
    let trace = Trace::after(REAL).generation(2).clock();
    let event: (u8, &[u64]) = (id::HEAP_OBJECT_ALLOC, &[1, 7, 0]);
    let bytes = trace.events(3, 1 << 40, &[event]).end().bytes;
    let (all, error) = read(&bytes);
    assert_eq!((all.len(), error), (47_056 + 3, None));
    let cuts = (header::LEN + 1..REAL.len()).step_by(1_499).chain(REAL.len() - 40..bytes.len());
    let mut visited = 0;
    for len in cuts {
        let (events, error) = read(&bytes[..len]);
        let whole = if len < REAL.len() { 0 } else { 47_056 };
        assert_eq!(events.len(), whole + 1, "cut at {len}");
        if let Some(error) = error {
            assert!(error.offset <= len as u64, "cut at {len}: {error}");
        }
        let mut out = Vec::new();
        let _ = dump::wire(&bytes[..len], &mut out).unwrap();
        visited += 1;
    }
    assert!(visited > 200);
}
