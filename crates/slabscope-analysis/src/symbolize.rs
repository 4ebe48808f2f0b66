//! A trace with its names in it: functions, files, lines and types, so that it needs the program's files
//! no more.
//!
//! Batches stay as they are, but for the types, which get their names. Each generation has behind them
//! its stacks in Go's own tables, under the number of their innermost frame.

mod source;
mod tables;

use std::io::{self, Read, Write};

use slabscope_symbols::{Finding, Options};
use slabscope_trace::alloc_free::GenerationData;
use slabscope_trace::{Experiment, ExperimentalBatch, ExperimentalData, ThreadId, Time};
use slabscope_wire::alloc_free::data;
use slabscope_wire::batch;
use slabscope_wire::event::id;

use crate::names::Names;
use crate::sites::Sites;
use source::{Batch, Item, Source};
use tables::Tables;

/// Why a trace got no names.
#[derive(Debug)]
pub enum SymbolizeError {
    /// It is no trace of ours, or is broken at this offset.
    Broken {
        /// In bytes.
        offset: u64,
    },
    /// It could not be read.
    Input(io::Error),
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
            SymbolizeError::Input(error) | SymbolizeError::Output(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SymbolizeError {}

/// Writes the trace that `read` gives with names to `out`; they are looked for as `options` say.
///
/// Batches are passed on as they come. What stays in memory is the names, and of a generation its tables.
///
/// # Errors
/// When the trace cannot be read to its end, or the result not be written.
pub fn symbolize(
    read: impl Read,
    options: Options,
    out: &mut dyn Write,
) -> Result<Symbolized, SymbolizeError> {
    let mut source = Source::new(read);
    out.write_all(source.header()?)?;
    let (mut sites, mut names) = (Sites::default(), Names::new(options));
    let mut done = Symbolized::default();
    let mut generation = Generation::default();
    while let Some(item) = source.next()? {
        match item {
            Item::Batch(batch) => generation.take(batch, out)?,
            Item::EndOfGeneration => {
                let generation = std::mem::take(&mut generation);
                done.generations += 1;
                done.stacks += generation.finish(&mut sites, &mut names, out)?;
                out.write_all(&[id::END_OF_GENERATION])?;
            }
        }
    }
    if generation.first.is_some() {
        return Err(SymbolizeError::Broken { offset: source.offset() });
    }
    done.modules = names.finish();
    Ok(done)
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbolized {
    /// How many generations the trace has.
    pub generations: u64,
    /// How many stacks got their names, those of each generation counted.
    pub stacks: u64,
    /// What was found of the program's files.
    pub modules: Vec<Finding>,
}

/// What is kept of a generation until its end.
#[derive(Default)]
struct Generation {
    /// Number and time of its first batch.
    first: Option<(u64, u64)>,
    side: Vec<ExperimentalBatch>,
}

impl Generation {
    /// Passes a batch on, but the names of types, which get others.
    fn take(&mut self, batch: Batch, out: &mut dyn Write) -> Result<(), SymbolizeError> {
        self.first.get_or_insert((batch.generation, batch.time));
        let kind = batch.payload.first().copied();
        if !batch.is_side_data && matches!(kind, Some(id::STACKS | id::STRINGS)) {
            return Err(SymbolizeError::HasNames);
        }
        if !(batch.is_side_data && kind == Some(data::TYPES)) {
            out.write_all(&batch.head)?;
            out.write_all(&batch.payload)?;
        }
        if batch.is_side_data {
            self.side.push(ExperimentalBatch {
                experiment: Experiment::AllocFree,
                thread: ThreadId::NONE,
                data: batch.payload.into(),
            });
        }
        Ok(())
    }

    /// Writes its tables; returns how many stacks they have.
    fn finish(
        self,
        sites: &mut Sites,
        names: &mut Names,
        out: &mut dyn Write,
    ) -> Result<u64, SymbolizeError> {
        let Some((number, time)) = self.first else { return Ok(0) };
        let data = GenerationData::parse(&ExperimentalData { batches: self.side });
        let start = i64::try_from(time).unwrap_or(i64::MAX);
        sites.take_sites(&data, Time(start), |_| None);
        let mut tables = Tables::new(number, time);
        for entry in &data.sites {
            let site = sites.get(sites.at(entry.id).id);
            let stack = names.stack(sites.stacks(), site.stack);
            tables.add(entry, &stack, names.type_of(sites.stacks(), site).as_ref());
        }
        let stacks = tables.stacks();
        out.write_all(&tables.finish())?;
        Ok(stacks)
    }
}

/// The thread of what belongs to none.
const NO_THREAD: u64 = batch::NO_THREAD;
