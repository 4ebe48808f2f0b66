//! What the fuzz targets of the trace reader do with their bytes. The tests of slabscope-trace do the
//! same with the files in `corpus`, and with real traces that were changed.

use slabscope_trace::alloc_free::{GenerationData, ProblemKind};
use slabscope_trace::{
    Error, Event, Experiment, ExperimentalBatch, ExperimentalData, Open, Reader, Run, ThreadId,
    dump,
};

/// Reads a trace in every way there is: none may panic or go on for ever, an error must be the end
/// and have a place in the file, times must differ, and all ways must find the same.
pub fn events(bytes: &[u8]) {
    let mut out = Vec::new();
    // Bytes can always be written to a vector.
    let _ = dump::wire(bytes, &mut out).expect("a vector takes all");
    let Ok(reader) = Reader::new(bytes) else { return };
    let (lines, error) = one_by_one(reader, bytes.len());
    let reader = Reader::new(bytes).expect("it was read before");
    assert_eq!(in_runs(reader), (lines.clone(), error), "runs differ");
    let ahead = Open::bytes(bytes).expect("it was read before").ahead(in_runs);
    assert_eq!(ahead, (lines.clone(), error), "reading ahead differs");
    let streamed = Open::stream(bytes).expect("it was read before").here();
    assert_eq!(in_runs(streamed), (lines, error), "reading a stream differs");
}

/// All events as lines, and how reading ended.
type Lines = (Vec<Vec<u8>>, Option<Error>);

fn one_by_one(mut reader: Reader<'_>, len: usize) -> Lines {
    let (mut lines, mut last) = (Vec::new(), None);
    // An event has two bytes at least, and becomes three of ours at most.
    for _ in 0..=2 * len + 2 {
        match reader.next() {
            None => return (lines, None),
            Some(Ok(event)) => {
                assert_ne!(last, Some(event.time), "two events at one time");
                last = Some(event.time);
                lines.push(line(&event));
            }
            Some(Err(error)) => {
                assert!(error.offset <= len as u64, "an error beyond the end: {error}");
                assert!(reader.next().is_none(), "an error is the end");
                return (lines, Some(error));
            }
        }
    }
    panic!("more events than bytes for them");
}

fn in_runs(mut reader: Reader<'_>) -> Lines {
    let mut lines = Vec::new();
    while let Some(run) = reader.next_run() {
        match run {
            Ok(Run::Event(event)) => lines.push(line(&event)),
            // Those that are left are handed out by the next.
            Ok(Run::Experimental(run)) => {
                lines.extend(run.take(100).map(|event| line(&event.into())));
            }
            Err(error) => return (lines, Some(error)),
        }
    }
    (lines, None)
}

fn line(event: &Event) -> Vec<u8> {
    let mut line = Vec::new();
    dump::parsed(event, &mut line).expect("a vector takes all");
    line
}

/// Takes side data apart: a byte says how long the next batch is. Every problem must be one of a
/// batch that is there, at a place in it.
pub fn side_data(mut bytes: &[u8]) {
    let mut data = ExperimentalData::default();
    while let Some((&len, rest)) = bytes.split_first() {
        let (batch, rest) = rest.split_at(rest.len().min(len.into()));
        data.batches.push(ExperimentalBatch {
            experiment: Experiment::AllocFree,
            thread: ThreadId::NONE,
            data: batch.into(),
        });
        bytes = rest;
    }
    let parsed = GenerationData::parse(&data);
    assert!(parsed.problems.len() <= data.batches.len());
    for problem in &parsed.problems {
        let batch = &data.batches[problem.batch].data;
        assert_eq!(problem.kind, batch.first().copied());
        if let ProblemKind::Malformed { at } = problem.what {
            assert!(at <= batch.len());
        }
    }
}
