//! A large trace out of a small one: its generations again and again, with other numbers and times.
//!
//! What is repeated can be read, and every event is there; only the heap it tells of makes no sense
//! after the first time.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use slabscope_trace::Reader;
use slabscope_wire::batch::{BatchHeader, BatchKind, HEADER_MAX};
use slabscope_wire::buffer::Buffer;
use slabscope_wire::event::id;
use slabscope_wire::{header, varint};

/// Time between the end of the trace and the beginning of its repetition, in ticks.
const PAUSE: u64 = 1_000_000;

/// Something that stands in a trace.
enum Item<'a> {
    Batch(BatchHeader, &'a [u8]),
    EndOfGeneration,
}

/// Writes the trace `small` to `large` so often that there are `events` events at least.
pub(super) fn repeat(small: &Path, large: &Path, events: u64) -> Result<()> {
    let bytes = fs::read(small).with_context(|| format!("{}: cannot be read", small.display()))?;
    let items = items(&bytes)?;
    let (mut count, mut last) = (0, 0);
    for event in Reader::new(&bytes)? {
        count += 1;
        last = event?.time.0;
    }
    let headers = || {
        items.iter().filter_map(|item| match item {
            Item::Batch(header, _) => Some(header),
            Item::EndOfGeneration => None,
        })
    };
    let first = headers().map(|header| header.time).min().context("an empty trace")?;
    let generations = headers().map(|header| header.generation).max().unwrap_or(0);
    let span = last as u64 - first + PAUSE;
    let context = || format!("{}: cannot be written", large.display());
    let mut out = BufWriter::new(File::create(large).with_context(context)?);
    out.write_all(&header::BYTES).with_context(context)?;
    for round in 0..events.div_ceil(count) {
        for item in &items {
            write(item, round * generations, round * span, &mut out).with_context(context)?;
        }
    }
    out.flush().with_context(context)
}

/// Writes the first generation of `whole` to `part`.
pub(super) fn first_generation(whole: &Path, part: &Path) -> Result<()> {
    let bytes = fs::read(whole).with_context(|| format!("{}: cannot be read", whole.display()))?;
    let mut out = header::BYTES.to_vec();
    for item in items(&bytes)? {
        write(&item, 0, 0, &mut out)?;
        if matches!(item, Item::EndOfGeneration) {
            break;
        }
    }
    fs::write(part, out).with_context(|| format!("{}: cannot be written", part.display()))
}

fn write(item: &Item<'_>, generations: u64, time: u64, out: &mut impl Write) -> Result<()> {
    let Item::Batch(header, payload) = item else {
        return Ok(out.write_all(&[id::END_OF_GENERATION])?);
    };
    let mut bytes = [0; HEADER_MAX];
    let mut buffer = Buffer::new(&mut bytes);
    let header = BatchHeader {
        generation: header.generation + generations,
        time: header.time + time,
        ..*header
    };
    if !header.write(&mut buffer, payload.len()) {
        bail!("a batch header is larger than it can be");
    }
    out.write_all(buffer.written())?;
    Ok(out.write_all(payload)?)
}

/// Takes a trace of the newest format apart.
fn items(bytes: &[u8]) -> Result<Vec<Item<'_>>> {
    if header::parse(bytes) != Ok(header::NEWEST) {
        bail!("a trace of another format");
    }
    let mut rest = bytes.get(header::LEN..).unwrap_or_default();
    let mut items = Vec::new();
    while let Some(first) = take(&mut rest, 1)?.first() {
        let kind = match *first {
            id::END_OF_GENERATION => {
                items.push(Item::EndOfGeneration);
                continue;
            }
            id::EVENT_BATCH => BatchKind::Normal,
            id::EXPERIMENTAL_BATCH => BatchKind::Experimental(number(&mut rest)? as u8),
            other => bail!("byte {other} begins no batch"),
        };
        let generation = number(&mut rest)?;
        let thread = number(&mut rest)?;
        let time = number(&mut rest)?;
        let len = number(&mut rest)?;
        let payload = take(&mut rest, usize::try_from(len)?)?;
        items.push(Item::Batch(BatchHeader { kind, generation, thread, time }, payload));
    }
    Ok(items)
}

fn number(rest: &mut &[u8]) -> Result<u64> {
    let (number, len) = varint::decode(rest)?;
    take(rest, len)?;
    Ok(number)
}

/// Takes `len` bytes off; none at the end.
fn take<'a>(rest: &mut &'a [u8], len: usize) -> Result<&'a [u8]> {
    if rest.is_empty() {
        return Ok(&[]);
    }
    let (taken, left) = rest.split_at_checked(len).context("the trace is cut off")?;
    *rest = left;
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_trace_has_all_events_so_often() {
        let small = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .join("crates/slabscope-trace/tests/data/go1.27-allocfree-small.trace");
        let bytes = fs::read(&small).unwrap();
        let generations = items(&bytes).unwrap();
        let ends = |items: &[Item<'_>]| {
            items.iter().filter(|item| matches!(item, Item::EndOfGeneration)).count()
        };
        let directory = tempfile::tempdir().unwrap();
        let (large, part) = (directory.path().join("large"), directory.path().join("part"));
        repeat(&small, &large, 1_000_000).unwrap();
        let repeated = fs::read(large).unwrap();
        let count = Reader::new(&bytes).unwrap().count();
        let rounds = 1_000_000_usize.div_ceil(count);
        assert_eq!(ends(&items(&repeated).unwrap()), rounds * ends(&generations));
        first_generation(&small, &part).unwrap();
        assert_eq!(ends(&items(&fs::read(part).unwrap()).unwrap()), 1);
    }
}
