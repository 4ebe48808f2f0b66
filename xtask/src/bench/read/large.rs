//! Large traces of one run, and small parts of a trace.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use slabscope_trace::Reader;
use slabscope_wire::event::id;
use slabscope_wire::{header, varint};

use crate::demo;
use crate::workspace::Workspace;

/// Makes a trace of `events` events at least. One run of the demo has as many as its trace `small`; this
/// one reads its sources so much more often.
pub(super) fn make(workspace: &Workspace, small: &Path, large: &Path, events: u64) -> Result<()> {
    let bytes = fs::read(small).with_context(|| format!("{}: cannot be read", small.display()))?;
    let mut count = 0;
    for event in Reader::new(&bytes)? {
        event?;
        count += 1;
    }
    let links = large.with_extension("links");
    if links.exists() {
        fs::remove_dir_all(&links)?;
    }
    fs::create_dir(&links)?;
    demo::make_large_trace(workspace, &links, events.div_ceil(count), large)?;
    Ok(fs::remove_dir_all(&links)?)
}

/// Writes the first generation of `whole` to `part`.
pub(super) fn first_generation(whole: &Path, part: &Path) -> Result<()> {
    let bytes = fs::read(whole).with_context(|| format!("{}: cannot be read", whole.display()))?;
    let first = first_end(&bytes)?;
    fs::write(part, first).with_context(|| format!("{}: cannot be written", part.display()))
}

/// A trace of the newest format up to the end of its first generation.
fn first_end(bytes: &[u8]) -> Result<&[u8]> {
    if header::parse(bytes) != Ok(header::NEWEST) {
        bail!("a trace of another format");
    }
    let mut rest = bytes.get(header::LEN..).unwrap_or_default();
    loop {
        match take(&mut rest, 1)?.first() {
            Some(&id::END_OF_GENERATION) => break,
            Some(&id::EVENT_BATCH) => {}
            Some(&id::EXPERIMENTAL_BATCH) => drop(number(&mut rest)?),
            other => bail!("{other:?} begins no batch"),
        }
        let [_generation, _thread, _time] =
            [number(&mut rest)?, number(&mut rest)?, number(&mut rest)?];
        let len = number(&mut rest)?;
        take(&mut rest, usize::try_from(len)?)?;
    }
    Ok(bytes.get(..bytes.len() - rest.len()).unwrap_or_default())
}

fn number(rest: &mut &[u8]) -> Result<u64> {
    let (number, len) = varint::decode(rest)?;
    take(rest, len)?;
    Ok(number)
}

/// Takes `len` bytes off.
fn take<'a>(rest: &mut &'a [u8], len: usize) -> Result<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(len).context("the trace is cut off")?;
    *rest = left;
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_generation_is_a_trace() {
        let small = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .join("crates/slabscope-trace/tests/data/go1.27-allocfree-small.trace");
        let bytes = fs::read(small).unwrap();
        let first = first_end(&bytes).unwrap();
        assert_eq!(first.last(), Some(&id::END_OF_GENERATION));
        assert!(Reader::new(first).unwrap().all(|event| event.is_ok()));
        assert!(first_end(&first[..first.len() - 1]).is_err());
    }
}
