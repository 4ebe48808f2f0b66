//! Putting a generation together, batch by batch.

use std::collections::HashMap;
use std::sync::Arc;

use slabscope_wire::event::id;

use super::records::Records;
use super::{Format, Generation, Piece, Sample, ThreadBatches};
use crate::batch::{Batch, Batches};
use crate::clock::{Clock, Snapshot};
use crate::cursor::Decoding;
use crate::error::{Error, ErrorKind};
use crate::experiment::{Experiment, ExperimentalBatch, ExperimentalData};
use crate::id::{GoId, ProcId, ThreadId, Time};
use crate::limits::{FRAMES_MAX, STRING_MAX};
use crate::tables::{FrameEntry, Tables};

/// A generation being read.
#[derive(Debug)]
pub(super) struct Builder {
    format: Format,
    /// 0 until its first batch.
    generation: u64,
    threads: Vec<(ThreadId, Vec<Piece>)>,
    thread_index: HashMap<ThreadId, usize>,
    /// With times still in ticks.
    samples: Vec<Sample>,
    /// In ticks; 0 while unknown.
    start: u64,
    clock: Option<Clock>,
    snapshot: Option<Snapshot>,
    tables: Tables,
    experimental: ExperimentalData,
}

impl Builder {
    pub(super) fn new(format: Format) -> Self {
        Builder {
            format,
            generation: 0,
            threads: Vec::new(),
            thread_index: HashMap::new(),
            samples: Vec::new(),
            start: 0,
            clock: None,
            snapshot: None,
            tables: Tables::default(),
            experimental: ExperimentalData::default(),
        }
    }

    /// An error at this place of the file.
    pub(super) fn error(&self, offset: u64, what: ErrorKind) -> Error {
        Error { offset, generation: self.generation, what }
    }

    /// Whether no batch was seen yet.
    pub(super) fn is_new(&self) -> bool {
        self.generation == 0
    }

    /// Whether there are events in it.
    pub(super) fn has_events(&self) -> bool {
        !self.threads.is_empty()
    }

    /// Whether `batch` belongs to the generation after this one.
    pub(super) fn is_followed_by(&self, batch: &Batch<'_>) -> bool {
        !self.is_new() && batch.generation.checked_sub(1) == Some(self.generation)
    }

    /// Whether a batch says that the generation ends: Go takes the byte at the start of a batch
    /// for the byte that stands alone.
    pub(super) fn ends_generation(batch: &Batch<'_>) -> bool {
        batch.experiment == 0 && batch.payload.first() == Some(&id::END_OF_GENERATION)
    }

    /// Checks that `batch` belongs to this generation.
    pub(super) fn admit(&mut self, batch: &Batch<'_>) -> Result<(), Error> {
        if batch.generation == 0 {
            return Err(self.error(batch.offset, ErrorKind::GenerationZero));
        }
        if self.is_new() {
            self.generation = batch.generation;
        }
        if batch.generation != self.generation {
            let what = ErrorKind::GenerationOutOfOrder(batch.generation);
            return Err(self.error(batch.offset, what));
        }
        Ok(())
    }

    /// Takes a batch in, in a format where no generation has an end of its own.
    pub(super) fn add_unended(&mut self, batch: Batch<'_>) -> Result<(), Error> {
        if Self::ends_generation(&batch) {
            return Err(self.error(batch.offset, ErrorKind::UnexpectedEnd));
        }
        self.add(batch)
    }

    /// Takes a batch in, whatever it holds.
    pub(super) fn add(&mut self, batch: Batch<'_>) -> Result<(), Error> {
        if self.start == 0 || batch.time < self.start {
            self.start = batch.time;
        }
        if batch.experiment != 0 {
            let name = self.format.catalog.experiment_name(batch.experiment);
            self.experimental.batches.push(ExperimentalBatch {
                experiment: Experiment::new(batch.experiment, name),
                thread: batch.thread,
                data: batch.payload.into(),
            });
            return Ok(());
        }
        let sync = if self.format.version >= 25 { id::SYNC } else { id::FREQUENCY };
        let mut records = Records::new(&batch);
        let added = match batch.payload.first() {
            Some(&id::STRINGS) => self.add_strings(&mut records),
            Some(&id::STACKS) => self.add_stacks(&mut records),
            Some(&id::CPU_SAMPLES) => self.add_samples(&mut records),
            Some(&first) if first == sync => self.add_clock(&mut records, batch.time),
            _ => {
                self.add_events(batch);
                Ok(())
            }
        };
        added.map_err(|what| self.error(records.offset(), what))
    }

    fn add_events(&mut self, batch: Batch<'_>) {
        let index = *self.thread_index.entry(batch.thread).or_insert_with(|| {
            self.threads.push((batch.thread, Vec::new()));
            self.threads.len() - 1
        });
        if let Some((_, pieces)) = self.threads.get_mut(index) {
            pieces.push(Piece { time: batch.time, at: batch.at, len: batch.payload.len() });
        }
    }

    fn add_strings(&mut self, records: &mut Records<'_>) -> Result<(), ErrorKind> {
        records.skip_byte();
        while records.next_is(id::STRING)? {
            let id = records.number()?;
            let len = records.number()?;
            if len > STRING_MAX {
                return Err(ErrorKind::StringTooLong(len));
            }
            let bytes = records.bytes(len as usize).ok_or(ErrorKind::StringCutOff)?;
            if !self.tables.add_string(id, bytes) {
                return Err(ErrorKind::RepeatedString(id));
            }
        }
        Ok(())
    }

    fn add_stacks(&mut self, records: &mut Records<'_>) -> Result<(), ErrorKind> {
        records.skip_byte();
        while records.next_is(id::STACK)? {
            let id = records.number()?;
            let len = records.number()?;
            if len > FRAMES_MAX {
                return Err(ErrorKind::StackTooDeep(len));
            }
            for _ in 0..len {
                let pc = records.number()?;
                let function = records.number()?;
                let file = records.number()?;
                let line = records.number()?;
                self.tables.add_frame(pc, FrameEntry { function, file, line });
            }
            if !self.tables.end_stack(id, len as usize) {
                return Err(ErrorKind::RepeatedStack(id));
            }
        }
        Ok(())
    }

    fn add_samples(&mut self, records: &mut Records<'_>) -> Result<(), ErrorKind> {
        records.skip_byte();
        while records.next_is(id::CPU_SAMPLE)? {
            let time = Time(records.number()? as i64);
            let thread = ThreadId(records.number()? as i64);
            let proc = ProcId(records.number()? as i64);
            let goroutine = match records.number()? {
                0 => GoId::NONE,
                goroutine => GoId(goroutine as i64),
            };
            let stack = records.number()?;
            self.samples.push(Sample { time, thread, proc, goroutine, stack });
        }
        Ok(())
    }

    fn add_clock(&mut self, records: &mut Records<'_>, time: u64) -> Result<(), ErrorKind> {
        let has_snapshots = self.format.version >= 25;
        if has_snapshots {
            records.skip_byte();
        }
        let mut ticks = time;
        while let Some(record) = records.next_id() {
            match record {
                id::FREQUENCY if self.clock.is_some() => return Err(ErrorKind::RepeatedFrequency),
                id::FREQUENCY => self.clock = Some(Clock::from_frequency(records.number()?)),
                id::CLOCK_SNAPSHOT if has_snapshots => {
                    if self.snapshot.is_some() {
                        return Err(ErrorKind::RepeatedClockSnapshot);
                    }
                    ticks = ticks.wrapping_add(records.number()?);
                    self.snapshot = Some(Snapshot {
                        ticks,
                        mono: records.number()?,
                        seconds: records.number()?,
                        nanos: records.number()?,
                    });
                }
                stray => return Err(ErrorKind::StrayRecord(stray)),
            }
        }
        Ok(())
    }

    /// The generation, once all of its batches are in: what `batches` has left comes after it.
    pub(super) fn finish<'a>(mut self, batches: &mut Batches<'a>) -> Result<Generation<'a>, Error> {
        let offset = batches.offset();
        let Some(clock) = self.clock else {
            return Err(self.error(offset, ErrorKind::NoFrequency));
        };
        if self.format.version >= 25 && self.snapshot.is_none() {
            return Err(self.error(offset, ErrorKind::NoClockSnapshot));
        }
        if let Some(string) = self.tables.missing_frame_string() {
            return Err(self.error(offset, ErrorKind::MissingFrameString(string)));
        }
        for sample in &mut self.samples {
            sample.time = clock.time(sample.time.0 as u64);
        }
        self.samples.sort_by_key(|sample| sample.time);
        let start = batches.start();
        let block = batches.cut();
        let thread =
            |(thread, pieces)| ThreadBatches { thread, block: block.clone(), start, pieces };
        Ok(Generation {
            number: self.generation,
            threads: self.threads.into_iter().map(thread).collect(),
            samples: self.samples,
            start: clock.time(self.start),
            decoding: Decoding { clock, catalog: self.format.catalog },
            snapshot: self.snapshot,
            tables: Arc::new(self.tables),
            experimental: Arc::new(self.experimental),
            end: offset,
        })
    }
}
