//! A trace with its names in it: functions, files, lines and types, so that it needs the program's files
//! no more.
//!
//! Batches stay as they are, but for the types, which get their names. Each generation has behind them
//! its stacks in Go's own tables, under the number of their innermost frame.

mod tables;

use std::io::{self, Write};

use slabscope_symbols::{Finding, Options};
use slabscope_trace::alloc_free::GenerationData;
use slabscope_trace::{Experiment, ExperimentalBatch, ExperimentalData, ThreadId, Time};
use slabscope_wire::alloc_free::{EXPERIMENT, data};
use slabscope_wire::event::id;
use slabscope_wire::{batch, header, varint};

use crate::names::Names;
use crate::sites::Sites;
use tables::Tables;

/// Why a trace got no names.
#[derive(Debug)]
pub enum SymbolizeError {
    /// It is no trace of ours, or is broken at this offset.
    Broken {
        /// In bytes.
        offset: usize,
    },
    /// It has stacks with names already.
    HasNames,
    /// The result could not be written.
    Output(io::Error),
}

impl From<io::Error> for SymbolizeError {
    fn from(error: io::Error) -> Self {
        SymbolizeError::Output(error)
    }
}

impl std::fmt::Display for SymbolizeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SymbolizeError::Broken { offset } => write!(f, "offset {offset}: it is broken there"),
            SymbolizeError::HasNames => f.write_str("it has names already"),
            SymbolizeError::Output(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SymbolizeError {}

/// Writes the trace that is `bytes` with names to `out`; they are looked for as `options` say.
///
/// # Errors
/// When the trace cannot be read to its end, or the result not be written.
pub fn symbolize(
    bytes: &[u8],
    options: Options,
    out: &mut dyn Write,
) -> Result<Vec<Finding>, SymbolizeError> {
    let head = bytes.get(..header::BYTES.len()).ok_or(SymbolizeError::Broken { offset: 0 })?;
    out.write_all(head)?;
    let (mut sites, mut names) = (Sites::default(), Names::new(options));
    let mut at = head.len();
    let mut generation = Vec::new();
    while let Some(&first) = bytes.get(at) {
        if first == id::END_OF_GENERATION {
            write(&generation, &mut sites, &mut names, out)?;
            out.write_all(&[id::END_OF_GENERATION])?;
            generation.clear();
            at += 1;
            continue;
        }
        let batch = Batch::read(bytes, at).ok_or(SymbolizeError::Broken { offset: at })?;
        at += batch.bytes.len();
        generation.push(batch);
    }
    match generation.is_empty() {
        true => Ok(names.finish()),
        false => Err(SymbolizeError::Broken { offset: at }),
    }
}

/// A batch as it stands in the file.
struct Batch<'a> {
    bytes: &'a [u8],
    payload: &'a [u8],
    is_side_data: bool,
    generation: u64,
    time: u64,
}

impl<'a> Batch<'a> {
    fn read(bytes: &'a [u8], start: usize) -> Option<Batch<'a>> {
        let is_side_data = match (bytes.get(start)?, bytes.get(start + 1)?) {
            (&id::EVENT_BATCH, _) => false,
            (&id::EXPERIMENTAL_BATCH, &EXPERIMENT) => true,
            _ => return None,
        };
        let mut at = start + 1 + usize::from(is_side_data);
        let mut number = || {
            let (number, len) = varint::decode(bytes.get(at..)?).ok()?;
            at += len;
            Some(number)
        };
        let (generation, _thread, time, len) = (number()?, number()?, number()?, number()?);
        let end = at.checked_add(usize::try_from(len).ok()?)?;
        let payload = bytes.get(at..end)?;
        Some(Batch { bytes: bytes.get(start..end)?, payload, is_side_data, generation, time })
    }

    fn kind(&self) -> Option<u8> {
        self.payload.first().copied()
    }

    fn is_types(&self) -> bool {
        self.is_side_data && self.kind() == Some(data::TYPES)
    }
}

fn write(
    batches: &[Batch<'_>],
    sites: &mut Sites,
    names: &mut Names,
    out: &mut dyn Write,
) -> Result<(), SymbolizeError> {
    let Some(first) = batches.first() else { return Ok(()) };
    let named = |batch: &Batch<'_>| {
        !batch.is_side_data && matches!(batch.kind(), Some(id::STACKS | id::STRINGS))
    };
    if batches.iter().any(named) {
        return Err(SymbolizeError::HasNames);
    }
    let side = |batch: &Batch<'_>| ExperimentalBatch {
        experiment: Experiment::AllocFree,
        thread: ThreadId::NONE,
        data: batch.payload.into(),
    };
    let side = batches.iter().filter(|batch| batch.is_side_data).map(side).collect();
    let data = GenerationData::parse(&ExperimentalData { batches: side });
    let start = i64::try_from(first.time).unwrap_or(i64::MAX);
    sites.take_sites(&data, Time(start), |_| None);
    let mut tables = Tables::new(first.generation, first.time);
    for entry in &data.sites {
        let site = sites.get(sites.at(entry.id).id);
        let stack = names.stack(sites.stacks(), site.stack);
        tables.add(entry, &stack, names.type_of(sites.stacks(), site).as_ref());
    }
    for batch in batches.iter().filter(|batch| !batch.is_types()) {
        out.write_all(batch.bytes)?;
    }
    Ok(out.write_all(&tables.finish())?)
}

/// The thread of what belongs to none.
const NO_THREAD: u64 = batch::NO_THREAD;
