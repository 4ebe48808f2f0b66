//! Profiles from an index, and as much of the trace as they take.

use std::io::{self, Read, Seek};
use std::ops::ControlFlow;

use slabscope_trace::{Open, Resume, Sync, Time};

use super::IndexError;
use super::file::{At, Index, Segment, Stand};
use super::standing::Standing;
use super::tables::Tables;
use crate::error::AnalyzeError;
use crate::events::Beginning;
use crate::heap::Heap;
use crate::profile::{Books, Cell, Delta, Ledger, Profile, ProfileOptions, Temporary};
use crate::replay::{KINDS, Replay, Watch};
use crate::threads::Threads;
use crate::window::{Limits, Window};

/// What was counted before a part began.
type Before = ([u64; KINDS], u64);

/// Opens the trace from a place on; from its start where that is `None`.
type Opens<'o> = dyn FnMut(Option<Resume>) -> io::Result<Open<'static>> + 'o;

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
        let tables: Tables = self.value(self.root.tables)?;
        if !tables.is_sound() {
            return Err(IndexError::Damaged);
        }
        let end: Standing = self.value(self.root.end.standing)?;
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
        let end: Standing = self.value(self.root.end.standing)?;
        let clock = end.clock();
        let Some(limits) = Limits::new(window, &clock) else {
            return Ok(Err(AnalyzeError::NoWallClock));
        };
        let number = limits.from.map_or(0, |from| before(&self.root.segments, from));
        let segment = self.root.segments.get(number).filter(|_| number > 0);
        Ok(Ok(Beginning { clock, at: segment.map(|segment| segment.at.resume()) }))
    }
}

/// The last segment that begins before this time and where a replay can begin.
fn before(segments: &[Segment], time: Time) -> usize {
    let segments = segments.iter().enumerate().skip(1).rev();
    let mut before = segments.filter(|(_, segment)| segment.at.last < time.0);
    before.find(|(_, segment)| segment.stand.is_some()).map_or(0, |(number, _)| number)
}

impl At {
    fn resume(self) -> Resume {
        let At { version, offset, last, syncs } = self;
        Resume { version, offset, last: Time(last), syncs }
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
                let trace = self.trace(first)?;
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
                let stand = self.index.root.end;
                self.resume(stand, self.end.clone(), Some(books), before)?.finish_as(format, error)
            }
            Last::Segment(number) => {
                let mut replay = self.begin(number, Some(books), before)?;
                let trace = self.trace(number)?;
                let read = replay.read(trace, &mut crate::replay::Unwatched, self.progress);
                read.and_then(|(format, error)| replay.finish(format, error))
            }
        };
        Ok(finished.map(|replayed| Profile::new(replayed, options)))
    }

    fn segment(&self, number: usize) -> Result<Segment, IndexError> {
        self.index.root.segments.get(number).copied().ok_or(IndexError::Damaged)
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

    fn trace(&mut self, number: usize) -> Result<Open<'static>, IndexError> {
        let resume = self.segment(number)?.at.resume();
        Ok((self.open)((number > 0).then_some(resume))?)
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
        let stand = self.segment(number)?.stand.ok_or(IndexError::Damaged)?;
        let standing = self.index.value(stand.standing)?;
        self.resume(stand, standing, books, before)
    }

    fn resume(
        &mut self,
        stand: Stand,
        standing: Standing,
        books: Option<Books>,
        before: Before,
    ) -> Result<Replay<Ledger>, IndexError> {
        if !(standing.is_possible() && standing.comes_after(&before)) {
            return Err(IndexError::Damaged);
        }
        let heap = Heap::read(&self.index.bytes(stand.heap)?).ok_or(IndexError::Damaged)?;
        let has_begun = books.is_some();
        let replay = self.replay(heap, standing, books).ok_or(IndexError::Damaged)?;
        let mut replay = Replay { has_begun, before, limits: Some(self.limits), ..replay };
        replay.set_boundary();
        Ok(replay)
    }

    fn replay(
        &self,
        heap: Heap<crate::profile::Tag>,
        standing: Standing,
        books: Option<Books>,
    ) -> Option<Replay<Ledger>> {
        let (keys, [.., cells, pairs]) = (&self.tables.keys, standing.met);
        let mut books = match books {
            Some(books) => books,
            None => {
                let known = keys.cells.get(..cells)?.iter();
                Books::there(&heap, known.map(|&(key, group)| Cell::new(key, group, 0)).collect())?
            }
        };
        books.meet_cells(cells, keys)?;
        books.meet_pairs(pairs, keys)?;
        let is_known = |tag: crate::profile::Tag| tag.cell() < cells;
        let mut spans = heap.spans();
        let all = spans.all(|view| view.objects().all(|(_, tag)| is_known(tag)));
        if !(all && heap.strays().all(is_known)) {
            return None;
        }
        drop(spans);
        let mut sites = self.tables.sites(&standing.met)?;
        sites.unknown = standing.unknown_sites;
        Some(Replay {
            heap,
            clock: standing.clock(),
            threads: Threads::kept(standing.threads()),
            sites,
            side: standing.side(),
            counts: standing.counts,
            other: standing.other,
            generations: standing.generations,
            last: standing.last(),
            ..Replay::new(self.window, Ledger::resumed(RULE, books, standing.thread_events))
        })
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
