//! Indexes whose numbers nobody wrote: their checksums fit, and they are refused all the same.

use std::io::{self, Cursor};

use slabscope_trace::{Open, Resume};

use super::file::{At, Index, Piece, Stand, Writer, encode};
use super::standing::Standing;
use super::{Identity, IndexError};
use crate::profile::ProfileOptions;
use crate::window::{Bound, Window};

/// An index with the heap of some places between, and its trace.
const INPUT: &[u8] = include_bytes!("../../../../fuzz/corpus/index/00");

const IDENTITY: Identity = Identity { len: 1, modified_ns: 2, hash: 3 };

fn parts() -> (&'static [u8], &'static [u8]) {
    let (len, rest) = INPUT.split_first_chunk::<4>().unwrap();
    rest.split_at(u32::from_le_bytes(*len) as usize)
}

/// What is changed of an index.
struct Change {
    at: fn(&mut At),
    between: fn(&mut Standing),
    end: fn(&mut Standing),
}

const NONE: Change = Change { at: |_| {}, between: |_| {}, end: |_| {} };

fn changed(change: &Change) -> Vec<u8> {
    let mut index = Index::open(Cursor::new(parts().0), &IDENTITY).unwrap();
    let (mut root, mut writer) = (index.root.clone(), Writer::new());
    let mut copy = |index: &mut Index<_>, piece: &mut Piece, change: Option<fn(&mut Standing)>| {
        let mut bytes = index.bytes(*piece).unwrap();
        if let Some(change) = change {
            let mut standing: Standing = index.value(*piece).unwrap();
            change(&mut standing);
            bytes = encode(&standing);
        }
        *piece = writer.bytes(&bytes);
    };
    let mut stands = 0;
    copy(&mut index, &mut root.tables, None);
    copy(&mut index, &mut root.whole, None);
    copy(&mut index, &mut root.end.standing, Some(change.end));
    copy(&mut index, &mut root.end.heap, None);
    for segment in &mut root.segments {
        copy(&mut index, &mut segment.delta, None);
        (change.at)(&mut segment.at);
        if let Some(Stand { standing, heap }) = &mut segment.stand {
            copy(&mut index, standing, Some(change.between));
            copy(&mut index, heap, None);
            stands += 1;
        }
    }
    assert!(stands > 1, "{stands} places to go on from");
    writer.finish(&root)
}

fn asked(change: &Change) -> Result<(), IndexError> {
    let (index, trace) = (changed(change), parts().1);
    let later = (Some(1_000_000), None);
    let parts = [(None, None), (Some(300_000), None), later, (Some(400_000), Some(1_700_000))];
    for (from, to) in parts {
        let [from, to] = [from, to].map(|bound| bound.map(Bound::SinceStart));
        let options = ProfileOptions { window: Window { from, to }, ..ProfileOptions::default() };
        let mut open = |at: Option<Resume>| match at {
            None => Open::stream(Cursor::new(trace)).map_err(io::Error::other),
            Some(at) => {
                let rest = trace.get(at.offset as usize..).unwrap_or_default();
                Ok(Open::resumed(Cursor::new(rest), at))
            }
        };
        let mut index = Index::open(Cursor::new(&index), &IDENTITY)?;
        let _ = index.profile(&options, &mut open, &mut |_| {})?;
    }
    Ok(())
}

#[test]
fn what_is_written_again_is_as_good() {
    assert!(asked(&NONE).is_ok());
}

#[test]
fn counts_that_no_trace_reaches_are_refused() {
    let ends: [fn(&mut Standing); 6] = [
        |standing| standing.counts[7] = u64::MAX,
        |standing| standing.counts = [1 << 59; 9],
        |standing| standing.other = u64::MAX,
        |standing| standing.generations = u64::MAX,
        |standing| standing.unknown_sites = u64::MAX,
        |standing| standing.have_problems(u64::MAX),
    ];
    for (number, end) in ends.into_iter().enumerate() {
        let changes = [Change { end, ..NONE }, Change { between: end, ..NONE }];
        for change in changes {
            assert!(matches!(asked(&change), Err(IndexError::Damaged)), "{number}");
        }
    }
}

#[test]
fn an_end_that_had_less_than_a_place_before_it_is_refused() {
    for end in [(|end| end.counts = [0; 9]) as fn(&mut Standing), |end| end.other = 0] {
        let between = |standing: &mut Standing| standing.other += 5;
        assert!(matches!(asked(&Change { between, end, ..NONE }), Err(IndexError::Damaged)));
    }
}

#[test]
fn places_that_no_trace_reaches_are_refused() {
    for at in [(|at| at.syncs = u64::MAX) as fn(&mut At), |at| at.offset = u64::MAX - 9] {
        assert!(matches!(asked(&Change { at, ..NONE }), Err(IndexError::Damaged)));
    }
}
