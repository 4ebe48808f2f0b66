//! The events that stand in the rings.

use slabscope_wire::alloc_free::EventKind;
use slabscope_wire::live::word::{self, Word};
use slabscope_wire::live::{HEAD_SIZE, available, checkpoint, header};

use crate::error::Error;
use crate::live::Live;

/// No record has more words: thread, time, event and argument.
const RECORD_MAX: u64 = 4;

/// An event as a ring has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) thread: u32,
    pub(crate) ticks: u64,
    pub(crate) kind: EventKind,
    pub(crate) id: u64,
    pub(crate) site: u32,
    pub(crate) argument: u64,
}

/// What a ring holds.
#[derive(Debug)]
pub(crate) struct Ring<'a> {
    live: &'a Live<'a>,
    number: usize,
    words: u64,
    /// Whether it may have holes.
    has_holes: bool,
}

/// All events of all rings, each thread's in its order, and how many records each ring ever had.
pub(crate) fn records(live: &Live<'_>) -> Result<(Vec<Record>, Vec<u64>), Error> {
    let rings = live.header(header::RINGS)?;
    let by_cas = live.header(header::PROTOCOL)? == 1;
    let words = live.header(header::RING_WORDS)?;
    let (mut records, mut by_ring) = (Vec::new(), Vec::new());
    for number in 0..rings as usize {
        let has_holes = by_cas || number as u64 == rings - 1;
        let ring = Ring { live, number, words, has_holes };
        let before = records.len();
        ring.read(&mut records)?;
        by_ring.push(ring.place(2).saturating_add((records.len() - before) as u64));
    }
    // Stable: events of a thread that have one time stand in one ring, in its order.
    records.sort_by_key(|record| (record.thread, record.ticks));
    Ok((records, by_ring))
}

/// What the record before had, for those that do not say it again.
#[derive(Clone, Copy, Debug)]
struct Last {
    thread: u32,
    ticks: Option<u64>,
}

impl Ring<'_> {
    fn place(&self, index: usize) -> u64 {
        self.live.checkpoint(checkpoint::RINGS + checkpoint::RING_LEN * self.number + index)
    }

    fn word(&self, index: u64) -> Word {
        let at = self.number as u64 * self.words + (index & (self.words - 1));
        word::decode(self.live.word_of(header::WORDS_AT, at))
    }

    fn read(&self, to: &mut Vec<Record>) -> Result<(), Error> {
        let (taken, thread) = (self.place(0), self.place(1) as u32);
        // What the recorder took ends where a reading of the clock does.
        let mut last = Last { thread, ticks: None };
        let head = self.live.word_of(header::HEADS_AT, (self.number * HEAD_SIZE / 8) as u64);
        let available = available(head, taken, self.has_holes);
        // Looking for a record may lead a few words past the end; those too must have a number.
        let end = taken
            .checked_add(available)
            .filter(|&end| available <= self.words && end <= u64::MAX - RECORD_MAX);
        let (mut at, end) = (taken, end.ok_or(Error::Ring(self.number))?);
        while at < end {
            match self.record(at, end, last) {
                Some((record, next)) => {
                    to.push(record);
                    last = Last { thread: record.thread, ticks: Some(record.ticks) };
                    at = next;
                }
                // Whoever had this place was killed before he filled it; the next record begins with
                // its thread.
                None if self.has_holes => at += 1,
                None => return Err(Error::Word { ring: self.number, index: at }),
            }
        }
        Ok(())
    }

    /// The record at `at`, and where the next one begins.
    fn record(&self, at: u64, end: u64, last: Last) -> Option<(Record, u64)> {
        let (thread, at) = match self.word(at) {
            Word::Run(thread) => (thread, at + 1),
            _ if self.has_holes => return None,
            _ => (last.thread, at),
        };
        let (ticks, at) = match self.word(at) {
            Word::Time(ticks) => (ticks, at + 1),
            _ => (last.ticks.filter(|_| thread == last.thread)?, at),
        };
        let Word::Event { kind, id, site } = self.word(at) else { return None };
        let (argument, next) = match kind.has_argument() {
            false => (0, at + 1),
            true => match self.word(at + 1) {
                Word::Argument(argument) => (argument, at + 2),
                _ => return None,
            },
        };
        (next <= end).then_some((Record { thread, ticks, kind, id, site, argument }, next))
    }
}
