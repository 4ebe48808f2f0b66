//! The live file of a program that runs on while it is read.

use std::io;
use std::ops::Range;

use slabscope_wire::live::{HEAD_SIZE, available, checkpoint, header};

use crate::error::Error;
use crate::live::{Live, needed_len};

/// A thread that keeps a ring full leaves a millisecond or so for a try, of which the reading takes the
/// most; each try waits for nothing.
const TRIES: usize = 1000;

/// Words that may be written behind a ring's head before it tells of them.
const RECORD_MAX: u64 = 8;

/// The live file of a running program as it stood at one moment; `None` if the program is too fast for
/// that. `read` fills a slice with what stands in the file from a place on.
///
/// What was in the trace file at that moment is there when this returns, and may be more by now.
///
/// # Errors
/// Those of `read`.
pub fn read_running(
    mut read: impl FnMut(u64, &mut [u8]) -> io::Result<()>,
) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = vec![0; header::LEN * 8];
    read(0, &mut bytes)?;
    let Some(parts) = Parts::of(&bytes) else { return Ok(None) };
    // Room that is not written to takes no memory.
    bytes.resize(parts.end(), 0);
    for _ in 0..TRIES {
        if let Some(kept) = records(&mut read, &mut bytes, &parts)? {
            return tables(&mut read, bytes, &parts, &kept).map(Some);
        }
    }
    Ok(None)
}

/// Where in the file those things lie that change while it is read.
struct Parts {
    checkpoints: Range<usize>,
    heads: Range<usize>,
    words: Range<usize>,
    chunk: Range<usize>,
}

/// The header's words that belong to the records, and not to the tables.
const OF_RECORDS: [Range<usize>; 2] =
    [header::CHECKPOINT * 8..(header::CHECKPOINT + 1) * 8, header::DROPPED * 8..header::LEN * 8];

impl Parts {
    /// As a header has them; `None` where that is broken.
    fn of(header: &[u8]) -> Option<Parts> {
        let live = Live::unchecked(header);
        let word = |index| usize::try_from(live.header(index).ok()?).ok();
        let part = |at, count: usize, size: usize| {
            let start = word(at)?;
            let end = start.checked_add(count.checked_mul(size)?)?;
            // More than that no recorder has.
            (end < 1 << 40).then_some(start..end)
        };
        let rings = word(header::RINGS)?;
        needed_len(header)?;
        Some(Parts {
            checkpoints: part(header::CHECKPOINTS_AT, 2, word(header::CHECKPOINT_SIZE)?)?,
            heads: part(header::HEADS_AT, rings, HEAD_SIZE)?,
            words: part(header::WORDS_AT, rings.checked_mul(word(header::RING_WORDS)?)?, 8)?,
            chunk: part(header::CHUNK_AT, 1, word(header::CHUNK_MAX)?)?,
        })
    }

    fn all(&self) -> [&Range<usize>; 4] {
        [&self.checkpoints, &self.heads, &self.words, &self.chunk]
    }

    fn end(&self) -> usize {
        self.all().map(|part| part.end).into_iter().max().unwrap_or_default()
    }
}

/// Reads a checkpoint and the records after it; `None` if these may have been written over meanwhile, else
/// the header as it was.
///
/// Records are appended while we read, and written over only once a later checkpoint has them. The
/// checkpoint is read twice, since it may be made while we read; so is the head of each ring, before its
/// words and after.
fn records(
    read: &mut impl FnMut(u64, &mut [u8]) -> io::Result<()>,
    bytes: &mut [u8],
    parts: &Parts,
) -> io::Result<Option<Vec<u8>>> {
    let mut part = |range: &Range<usize>, bytes: &mut [u8]| match bytes.get_mut(range.clone()) {
        Some(to) => read(range.start as u64, to),
        None => Ok(()),
    };
    let start = 0..header::LEN * 8;
    let mut place = || {
        part(&start, bytes)?;
        part(&parts.checkpoints, bytes)?;
        let current = Live::unchecked(bytes).header(header::CHECKPOINT).unwrap_or_default();
        let size = parts.checkpoints.len() / 2;
        let at = parts.checkpoints.start + size * (current & 1) as usize;
        Ok::<_, io::Error>((current, bytes.get(at..at + size).map(<[u8]>::to_vec)))
    };
    if place()? != place()? {
        return Ok(None);
    }
    let kept = bytes.get(start).map(<[u8]>::to_vec);
    for range in [&parts.heads, &parts.words, &parts.chunk] {
        part(range, bytes)?;
    }
    let mut heads = vec![0; parts.heads.len()];
    read(parts.heads.start as u64, &mut heads)?;
    match overtaken(bytes, parts, &heads) {
        // A broken file is not for us to judge.
        Ok(false) | Err(_) => Ok(kept),
        Ok(true) => Ok(None),
    }
}

/// Whether records from the checkpoint on may have been written over by the time of the later `heads`.
fn overtaken(bytes: &[u8], parts: &Parts, heads: &[u8]) -> Result<bool, Error> {
    let live = Live::unchecked(bytes);
    let by_cas = live.header(header::PROTOCOL)? == 1;
    let words = live.header(header::RING_WORDS)?;
    let current = (live.header(header::CHECKPOINT)? & 1) as usize;
    let taken_at = parts.checkpoints.start + current * parts.checkpoints.len() / 2;
    let heads = heads.chunks_exact(HEAD_SIZE).enumerate();
    let rings = heads.len();
    Ok(heads.into_iter().any(|(ring, head)| {
        let word = checkpoint::RINGS + checkpoint::RING_LEN * ring;
        let taken = live.word(taken_at + word * 8).unwrap_or_default();
        let head = Live::unchecked(head).word(0).unwrap_or_default();
        available(head, taken, by_cas || ring == rings - 1) + RECORD_MAX > words
    }))
}

/// Adds the tables to the records, which are read now, so that no record names a row that is missing. None
/// of their rows ever changes.
fn tables(
    read: &mut impl FnMut(u64, &mut [u8]) -> io::Result<()>,
    mut bytes: Vec<u8>,
    parts: &Parts,
    kept: &[u8],
) -> io::Result<Vec<u8>> {
    let start = 0..header::LEN * 8;
    if let Some(header) = bytes.get_mut(start.clone()) {
        read(0, header)?;
    }
    let needed = needed_len(&bytes).and_then(|len| usize::try_from(len).ok());
    let end = needed.unwrap_or_default().max(bytes.len());
    bytes.resize(end, 0);
    let mut known = [&start].into_iter().chain(parts.all()).cloned().collect::<Vec<_>>();
    known.push(end..end);
    known.sort_by_key(|part| part.start);
    let mut at = 0;
    for part in known {
        if let Some(to) = bytes.get_mut(at..part.start) {
            read(at as u64, to)?;
        }
        at = at.max(part.end);
    }
    for words in OF_RECORDS {
        if let (Some(to), Some(from)) = (bytes.get_mut(words.clone()), kept.get(words)) {
            to.copy_from_slice(from);
        }
    }
    Ok(bytes)
}
