//! Traces that are not in memory as a whole, and readers that are let go of early.

mod support;

use std::io::{self, Read};

use slabscope_trace::{ErrorKind, Event, Open, Reader};
use slabscope_wire::event::id;

use support::{REAL, START, Trace, read, strings};

/// Gives a few bytes at a time, as a pipe may, and fails where it is told to.
struct Drip<'a> {
    rest: &'a [u8],
    fails: bool,
}

impl Read for Drip<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() && self.fails {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let few = self.rest.len().min(out.len()).min(700);
        let (now, later) = self.rest.split_at(few);
        out[..few].copy_from_slice(now);
        self.rest = later;
        Ok(few)
    }
}

fn all(reader: Reader<'_>) -> (Vec<String>, Option<slabscope_trace::Error>) {
    let (mut lines, mut error) = (Vec::new(), None);
    for event in reader {
        match event {
            Ok(event) => lines.push(Event::to_string(&event)),
            Err(failed) => error = Some(failed),
        }
    }
    (lines, error)
}

/// Three generations in a format.
fn three(version: u8) -> Vec<u8> {
    let mut trace = Trace::of_version(version).clock().table(&strings(&[(1, b"x")]));
    for generation in 0..3 {
        trace = if generation > 0 { trace.next() } else { trace };
        trace = trace.events(7, START, &[(id::HEAP_OBJECT_ALLOC, &[1, generation, 0])]);
    }
    trace.end().bytes
}

#[test]
fn a_stream_is_read_as_the_bytes_are() {
    let traces = [REAL.to_vec(), three(26), three(25), three(23)];
    for bytes in traces {
        for cut in [bytes.len(), bytes.len() - 1, bytes.len() / 2, 40] {
            let bytes = &bytes[..cut];
            let whole = all(Reader::new(bytes).unwrap());
            let drip = || Open::stream(Drip { rest: bytes, fails: false }).unwrap();
            assert_eq!(all(drip().here()), whole, "{cut}");
            assert_eq!(drip().ahead(all), whole, "{cut}");
        }
    }
    assert_eq!(read(&three(23)).0.iter().filter(|event| event.thread.0 == 7).count(), 3);
}

#[test]
fn a_file_that_cannot_be_read_on_is_an_error_with_its_place() {
    let bytes = three(26);
    let half = bytes.len() - 1;
    let drip = Drip { rest: &bytes[..half], fails: true };
    let (lines, error) = all(Open::stream(drip).unwrap().here());
    let error = error.unwrap();
    assert_eq!(error.what, ErrorKind::Read(io::ErrorKind::TimedOut));
    assert_eq!(error.offset, half as u64);
    // Two generations, and the sync event before the error.
    assert_eq!(lines.len(), 2 * 2 + 1);
}

#[test]
fn reading_goes_on_where_a_generation_ends() {
    let bytes = three(26);
    let whole = all(Reader::new(&bytes).unwrap()).0;
    let mut reader = Reader::new(&bytes).unwrap();
    let mut before = 0;
    let resume = loop {
        reader.next().unwrap().unwrap();
        before += 1;
        // Two events a generation.
        if before == 4 {
            break reader.resume();
        }
    };
    let rest = Open::resumed(&bytes[resume.offset as usize..], resume);
    assert_eq!(all(rest.here()).0, whole[before..]);
}

/// More events than may wait for a reader, and another generation behind them.
#[test]
fn a_reader_that_goes_early_takes_the_other_thread_along() {
    let mut trace = Trace::begun();
    for generation in 0..4 {
        trace = if generation > 0 { trace.next() } else { trace };
        for batch in 0..40 {
            let events = vec![(id::HEAP_OBJECT_ALLOC, &[1, 2, 0][..]); 2_000];
            trace = trace.events(7, START + batch * 2_000, &events);
        }
    }
    let bytes = trace.end().bytes;
    for taken in [0, 1, 79_000, 100_000] {
        let first = Open::bytes(&bytes).unwrap().ahead(|reader| reader.take(taken).count());
        assert_eq!(first, taken);
    }
}
