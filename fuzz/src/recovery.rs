//! What the fuzz target of recovery does with its bytes. The tests of slabscope-recover do the same
//! with the files in `corpus`, and with live files that were changed.

use slabscope_recover::{needed_len, process, recover};
use slabscope_trace::Reader;

/// No input makes a longer live file.
const PAGES_MAX: usize = 64;

const PAGE: usize = 4096;

/// A live file and a trace as an input: a live file is mostly zeros, and changes in those are seldom
/// of interest. So the input has its pages, the length of the trace, the trace, and after that where
/// in the live file (4 bytes) which word (8 bytes) stands, all in little-endian.
#[derive(Clone, Debug)]
pub struct Input {
    pub trace: Vec<u8>,
    pub live: Vec<u8>,
}

impl Input {
    /// The input that these bytes are; what is not a whole word is left out.
    pub fn parse(bytes: &[u8]) -> Self {
        let Some((&[pages, low, high], rest)) = bytes.split_first_chunk() else {
            return Input { trace: Vec::new(), live: Vec::new() };
        };
        let mut live = vec![0; usize::from(pages).min(PAGES_MAX) * PAGE];
        let len = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
        let (trace, words) = rest.split_at(len);
        for word in words.as_chunks::<12>().0 {
            let (at, value) = word.split_at(4);
            let at = at.iter().rev().fold(0, |at, &byte| at << 8 | usize::from(byte));
            if let Some(place) = live.get_mut(at..at + 8) {
                place.copy_from_slice(value);
            }
        }
        Input { trace: trace.to_vec(), live }
    }
}

/// Any words as a live file, and any trace.
pub fn recovery(bytes: &[u8]) {
    let input = Input::parse(bytes);
    files(&input.trace, &input.live);
}

/// Recovers from the two files: it may not panic or go on for ever, what it keeps must be there, it
/// must say the same twice, and what it makes must be something that the reader survives.
pub fn files(trace: &[u8], live: &[u8]) {
    let _ = (needed_len(live), process(live));
    let recovered = recover(trace.len() as u64, live);
    assert_eq!(recovered, recover(trace.len() as u64, live), "the same files, another result");
    let Ok(Some(recovered)) = recovered else { return };
    let kept = trace.get(..recovered.keep).expect("what is kept is there");
    let whole = [kept, &recovered.tail].concat();
    let Ok(reader) = Reader::new(&whole) else { return };
    // An event has two bytes at least, and becomes three of ours at most.
    let most = 2 * whole.len() + 3;
    assert!(reader.take(most).count() < most, "more events than bytes for them");
}
