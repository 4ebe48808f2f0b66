//! What the fuzz target of the index does with its bytes. The tests of slabscope-analysis do the same
//! with the files in `corpus`, and with these changed.

use std::io::{self, Cursor};
use std::ops::ControlFlow;

use slabscope_analysis::{Bound, Identity, Index, ProfileOptions, Window};
use slabscope_trace::{Open, Resume};

/// What the indexes of the corpus are about.
pub const IDENTITY: Identity = Identity { len: 1, modified_ns: 2, hash: 3 };

/// Parts of the trace that are asked for, in nanoseconds after its start.
const PARTS: [(Option<i64>, Option<i64>); 4] =
    [(None, None), (Some(300_000), None), (None, Some(900_000)), (Some(400_000), Some(1_700_000))];

/// The bytes of an index and of the trace beside it, as one input: four bytes say how long the index is.
pub fn join(index: &[u8], trace: &[u8]) -> Vec<u8> {
    let len = u32::try_from(index.len()).expect("an index of the corpus is small");
    [&len.to_le_bytes(), index, trace].concat()
}

/// Asks an index for the whole and for parts of its trace. It may be refused, at any time; whatever it
/// says, nothing may panic, and every view of an answer must come.
pub fn index(bytes: &[u8]) {
    let Some((&len, rest)) = bytes.split_first_chunk::<4>() else { return };
    let len = usize::try_from(u32::from_le_bytes(len)).unwrap_or(usize::MAX);
    let (index, trace) = rest.split_at(rest.len().min(len));
    for (from, to) in PARTS {
        let [from, to] = [from, to].map(|bound| bound.map(Bound::SinceStart));
        ask(index, trace, Window { from, to });
    }
}

fn ask(index: &[u8], trace: &[u8], window: Window) {
    let Ok(mut index) = Index::open(Cursor::new(index), &IDENTITY) else { return };
    let options = ProfileOptions { window, ..ProfileOptions::default() };
    let mut open = |at: Option<Resume>| match at {
        None => Open::stream(Cursor::new(trace.to_vec())).map_err(io::Error::other),
        Some(at) => {
            let begin = usize::try_from(at.offset).unwrap_or(usize::MAX).min(trace.len());
            Ok(Open::resumed(Cursor::new(trace[begin..].to_vec()), at))
        }
    };
    let symbols = options.symbols.clone();
    let mut objects = 0_u32;
    let mut each = |_| {
        objects += 1;
        ControlFlow::Continue(())
    };
    let _ = index.each_object(window, symbols, &mut open, &mut each);
    let Ok(Ok(profile)) = index.profile(&options, &mut open, &mut |_| {}) else { return };
    let views = (profile.peak(), profile.leaks(), profile.temporary(), profile.sizes());
    let more = (profile.sites(), profile.threads(), profile.spans(), profile.types());
    assert!(!format!("{:?}{views:?}{more:?}", profile.report()).is_empty());
}
