//! The plain events of a generation, put in order without the state of the scheduler.
//!
//! A plain event belongs to an experiment and asks nothing of the events before it: only times, and
//! where these are equal the shape of the heap, decide when it comes. Of some others that holds too,
//! but that the reader has to check them. So the start of a generation, up to its first event that
//! may have to wait for another thread's, can be put in order by itself, and on another thread. In
//! the traces of allocators that is all of it. [`Merge::rest`] is where the reader goes on.

mod lane;
mod plain;

pub(crate) use plain::Plain;

use std::collections::VecDeque;

use crate::cursor::{Cursor, RawEvent};
use crate::error::{Error, ErrorKind};
use crate::frontier::Frontier;
use crate::generation::Generation;
use crate::id::{ThreadId, Time};

use lane::Lane;

/// How many events are put in order at a time.
pub(crate) const RUN_EVENTS: usize = 4096;

/// A generation whose plain events are being put in order.
#[derive(Debug)]
pub(crate) struct Merge {
    /// One for each thread, as in [`Generation::threads`].
    lanes: Vec<Lane>,
    frontier: Frontier,
}

/// Events in order.
#[derive(Debug, Default)]
pub(crate) struct Events {
    pub(crate) plain: Vec<Plain>,
    /// Those that some of the plain ones stand for, in order.
    pub(crate) checked: VecDeque<Checked>,
}

/// An event that has its place in the order, but has to be checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checked {
    pub(crate) raw: RawEvent,
    /// Where it stands in the file.
    pub(crate) offset: u64,
}

impl Events {
    pub(crate) fn clear(&mut self) {
        self.plain.clear();
        self.checked.clear();
    }
}

/// Where all threads stand when the first event that may have to wait is the
/// earliest, or none is left.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    /// One for each thread, as in [`Generation::threads`].
    pub(crate) cursors: Vec<Cursor>,
    pub(crate) frontier: Frontier,
}

impl Merge {
    /// Stands before the first event of each thread; these are read, and must be readable.
    pub(crate) fn new(generation: &Generation<'_>) -> Result<Merge, Error> {
        let mut frontier = Frontier::default();
        let mut lanes = Vec::with_capacity(generation.threads.len());
        for (index, thread) in generation.threads.iter().enumerate() {
            let error = |(offset, what): (u64, ErrorKind)| Error {
                offset,
                generation: generation.number,
                what,
            };
            // Events of no thread are an error, which the reader finds.
            let number = u16::try_from(index).ok().filter(|_| thread.thread != ThreadId::NONE);
            let mut lane = Lane::new(thread, number, generation.decoding).map_err(error)?;
            if let Some(time) = lane.head(thread, generation.decoding) {
                frontier.insert(time, index);
            }
            lanes.push(lane);
        }
        Ok(Merge { lanes, frontier })
    }

    /// Appends the next events to `run` until that has [`RUN_EVENTS`]; `false` when no more plain
    /// events come.
    pub(crate) fn fill(&mut self, generation: &Generation<'_>, run: &mut Events) -> bool {
        // At equal times an event comes before a sample.
        let sample = generation.samples.first().map_or(Time(i64::MAX), |sample| sample.time);
        while run.plain.len() < RUN_EVENTS {
            let (Some(index), Some(time)) = (self.frontier.cursor(0), self.frontier.time()) else {
                return false;
            };
            if time > sample {
                return false;
            }
            let (Some(lane), Some(thread)) =
                (self.lanes.get_mut(index), generation.threads.get(index))
            else {
                return false;
            };
            // As long as no other thread is earlier, the heap stays as it is.
            let limit = self.frontier.second().map_or(sample, |second| second.min(sample));
            if !lane.take(limit, RUN_EVENTS - run.plain.len(), run) {
                return false;
            }
            match lane.head(thread, generation.decoding) {
                Some(time) => self.frontier.update(0, time),
                None => self.frontier.remove(0),
            }
        }
        true
    }

    /// Gives back where all threads stand.
    pub(crate) fn rest(self, generation: &Generation<'_>) -> Rest {
        let lanes = self.lanes.into_iter().zip(&generation.threads);
        let cursors = lanes.map(|(lane, thread)| lane.into_cursor(thread, generation.decoding));
        Rest { cursors: cursors.collect(), frontier: self.frontier }
    }
}
