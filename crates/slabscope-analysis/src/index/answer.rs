//! Profiles from an index, and as much of the trace as they take.

use std::io::{Read, Seek};
use std::ops::ControlFlow;

use slabscope_trace::{Resume, Sync};

use super::IndexError;
use super::file::Index;
use super::resume::{Opens, Stood, before};
use super::standing::Standing;
use super::tables::Tables;
use crate::error::AnalyzeError;
use crate::events::{Beginning, Tally};
use crate::profile::{Books, Cell, Delta, Ledger, Profile, ProfileOptions, Temporary};
use crate::replay::{KINDS, Replay, Watch};
use crate::window::{Limits, Window};

/// What was counted before a part began.
type Before = ([u64; KINDS], u64);

impl<F: Read + Seek> Index<F> {
    /// The profile of a part of the trace, names apart: what [`crate::profile_without_names`] would
    /// make. `open` opens the trace from a place on, or from its start.
    ///
    /// # Errors
    /// When the index is of no use for that; then the trace is to be read without it. The inner result
    /// is that of the profile.
    pub fn profile(
        &mut self,
        options: &ProfileOptions,
        open: &mut Opens<'_>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Result<Profile, AnalyzeError>, IndexError> {
        if options.temporary != ProfileOptions::default().temporary {
            return Err(IndexError::Missing);
        }
        let (tables, end) = (self.tables()?, self.end()?);
        let window = options.window;
        let Some(limits) = Limits::new(window, &end.clock()) else {
            return Ok(Err(AnalyzeError::NoWallClock));
        };
        let mut legs = Legs { index: self, tables, end, window, limits, open, progress };
        legs.profile(options)
    }

    /// Where reading may begin so that no event of a part is missed.
    ///
    /// # Errors
    /// When the index is of no use for that. The inner result says that the trace has no such part.
    pub fn beginning(
        &mut self,
        window: Window,
    ) -> Result<Result<Beginning, AnalyzeError>, IndexError> {
        let clock = self.end()?.clock();
        let Some(limits) = Limits::new(window, &clock) else {
            return Ok(Err(AnalyzeError::NoWallClock));
        };
        let number = limits.from.map_or(0, |from| before(&self.root.segments, from));
        let mut beginning = Beginning { clock, tally: Tally::default(), at: None };
        if number > 0 {
            let segment = self.segment(number)?;
            let standing = self.standing(segment.stand.ok_or(IndexError::Damaged)?)?;
            beginning.tally = standing.tally();
            beginning.at = Some(segment.at.resume());
        }
        Ok(Ok(beginning))
    }
}

/// The way to a profile: what is replayed of the trace, and what is not.
struct Legs<'a, 'o, F> {
    index: &'a mut Index<F>,
    tables: Tables,
    end: Standing,
    window: Window,
    limits: Limits,
    open: &'a mut Opens<'o>,
    progress: &'a mut dyn FnMut(u64),
}

/// Where the last leg begins.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Last {
    /// With this segment.
    Segment(usize),
    /// At the end of the trace: nothing is to be replayed.
    End,
}

impl<F: Read + Seek> Legs<'_, '_, F> {
    fn profile(
        &mut self,
        options: &ProfileOptions,
    ) -> Result<Result<Profile, AnalyzeError>, IndexError> {
        let last = match self.limits.to {
            Some(to) if self.end.last().is_none_or(|last| last >= to) => {
                Last::Segment(before(&self.index.root.segments, to))
            }
            _ => Last::End,
        };
        let (books, before) = match self.limits.from {
            None => (self.fold(Books::default(), 0, last)?, Before::default()),
            Some(from) => {
                let first = before(&self.index.root.segments, from);
                let mut replay = self.begin(first, None, Before::default())?;
                let bounds = self.boundaries(first, last);
                let mut stop = Stop { bounds, at: None };
                let trace = self.index.trace(first, self.open)?;
                let read = match replay.read(trace, &mut stop, self.progress) {
                    Ok(read) => read,
                    Err(error) => return Ok(Err(error)),
                };
                let Some(next) = stop.at else {
                    let finished = replay.finish(read.0, read.1);
                    return Ok(finished.map(|replayed| Profile::new(replayed, options)));
                };
                (self.fold(replay.lens.books, next, last)?, replay.before)
            }
        };
        let finished = match last {
            Last::End => {
                let (format, error) = (self.index.root.format, self.index.root.error.clone());
                let stood = self.index.stood(self.index.root.end)?;
                self.resume(stood, Some(books), before)?.finish_as(format, error)
            }
            Last::Segment(number) => {
                let mut replay = self.begin(number, Some(books), before)?;
                let trace = self.index.trace(number, self.open)?;
                let read = replay.read(trace, &mut crate::replay::Unwatched, self.progress);
                read.and_then(|(format, error)| replay.finish(format, error))
            }
        };
        Ok(finished.map(|replayed| Profile::new(replayed, options)))
    }

    /// Where the segments behind this one begin, up to the last.
    fn boundaries(&self, first: usize, last: Last) -> Vec<(u64, usize)> {
        let segments = self.index.root.segments.iter().enumerate().skip(first + 1);
        let wanted = segments.filter(|&(number, _)| Last::Segment(number) <= last);
        wanted.map(|(number, segment)| (segment.at.offset, number)).collect()
    }

    /// `books` with what happened in the segments from this one to the last, that one left out.
    fn fold(&mut self, mut books: Books, from: usize, last: Last) -> Result<Books, IndexError> {
        let segments = &self.index.root.segments;
        let pieces = match last {
            Last::End if from == 0 => vec![self.index.root.whole],
            Last::End => segments.iter().skip(from).map(|segment| segment.delta).collect(),
            Last::Segment(last) => {
                segments.iter().take(last).skip(from).map(|segment| segment.delta).collect()
            }
        };
        for piece in pieces {
            let delta: Delta = self.index.value(piece)?;
            books.append(&delta, &self.tables.keys).ok_or(IndexError::Damaged)?;
        }
        books.is_possible().then_some(books).ok_or(IndexError::Damaged)
    }

    /// A replay at the beginning of a segment; without books, a part begins in it.
    fn begin(
        &mut self,
        number: usize,
        books: Option<Books>,
        before: Before,
    ) -> Result<Replay<Ledger>, IndexError> {
        if number == 0 {
            return Ok(Replay::new(self.window, Ledger::new(RULE)));
        }
        let stand = self.index.segment(number)?.stand.ok_or(IndexError::Damaged)?;
        let stood = self.index.stood(stand)?;
        self.resume(stood, books, before)
    }

    fn resume(
        &mut self,
        stood: Stood,
        books: Option<Books>,
        before: Before,
    ) -> Result<Replay<Ledger>, IndexError> {
        if !stood.standing.comes_after(&before) {
            return Err(IndexError::Damaged);
        }
        let has_begun = books.is_some();
        let replay = self.replay(stood, books).ok_or(IndexError::Damaged)?;
        let mut replay = Replay { has_begun, before, ..replay };
        replay.set_boundary();
        Ok(replay)
    }

    fn replay(&self, stood: Stood, books: Option<Books>) -> Option<Replay<Ledger>> {
        let keys = &self.tables.keys;
        let (cells, pairs) = (stood.standing.cells(), stood.standing.pairs());
        let mut books = match books {
            Some(books) => books,
            None => {
                let known = keys.cells.get(..cells)?.iter();
                let cells = known.map(|&(key, group)| Cell::new(key, group, 0));
                Books::there(&stood.heap, cells.collect())?
            }
        };
        books.meet_cells(cells, keys)?;
        books.meet_pairs(pairs, keys)?;
        let events = stood.standing.thread_events.clone();
        let lens = Ledger::resumed(RULE, books, events);
        stood.replay(&self.tables, self.window, self.limits, lens)
    }
}

const RULE: Temporary = Temporary::Events(16);

/// Ends a leg at the first segment that begins after the part did.
struct Stop {
    /// Where segments begin in the trace, and their numbers.
    bounds: Vec<(u64, usize)>,
    at: Option<usize>,
}

impl Watch<Ledger> for Stop {
    fn sync(&mut self, replay: &mut Replay<Ledger>, at: Resume, _: &Sync) -> ControlFlow<()> {
        let found = self.bounds.binary_search_by_key(&at.offset, |&(offset, _)| offset);
        match found.ok().filter(|_| replay.has_begun).and_then(|place| self.bounds.get(place)) {
            Some(&(_, number)) => {
                self.at = Some(number);
                ControlFlow::Break(())
            }
            None => ControlFlow::Continue(()),
        }
    }
}
