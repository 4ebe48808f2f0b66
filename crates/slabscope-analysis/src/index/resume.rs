//! Going on in the midst of a trace, whatever for.

use std::io::{self, Read, Seek};

use slabscope_trace::{Open, Resume, Time};

use super::IndexError;
use super::file::{At, Index, Segment, Stand};
use super::standing::Standing;
use super::tables::Tables;
use crate::heap::Heap;
use crate::profile::Tag;
use crate::replay::{Lens, Replay};
use crate::threads::Threads;
use crate::window::{Limits, Window};

/// Opens the trace from a place on; from its start where that is `None`.
pub(super) type Opens<'o> = dyn FnMut(Option<Resume>) -> io::Result<Open<'static>> + 'o;

/// Where a replay stands between two generations.
pub(super) struct Stood {
    pub(super) standing: Standing,
    pub(super) heap: Heap<Tag>,
}

impl<F: Read + Seek> Index<F> {
    pub(super) fn tables(&mut self) -> Result<Tables, IndexError> {
        let tables: Tables = self.value(self.root.tables)?;
        tables.is_sound().then_some(tables).ok_or(IndexError::Damaged)
    }

    /// Where a replay stands as the trace ends, apart from its heap.
    pub(super) fn end(&mut self) -> Result<Standing, IndexError> {
        self.value(self.root.end.standing)
    }

    /// Where a replay stands as this segment begins, apart from its heap.
    pub(super) fn standing(&mut self, stand: Stand) -> Result<Standing, IndexError> {
        let standing: Standing = self.value(stand.standing)?;
        standing.is_possible().then_some(standing).ok_or(IndexError::Damaged)
    }

    pub(super) fn stood(&mut self, stand: Stand) -> Result<Stood, IndexError> {
        let standing = self.standing(stand)?;
        let heap = Heap::read(&self.bytes(stand.heap)?).ok_or(IndexError::Damaged)?;
        Ok(Stood { standing, heap })
    }

    pub(super) fn segment(&self, number: usize) -> Result<Segment, IndexError> {
        self.root.segments.get(number).copied().ok_or(IndexError::Damaged)
    }

    /// The trace from the beginning of a segment on.
    pub(super) fn trace(
        &self,
        number: usize,
        open: &mut Opens<'_>,
    ) -> Result<Open<'static>, IndexError> {
        let resume = self.segment(number)?.at.resume();
        Ok(open((number > 0).then_some(resume))?)
    }
}

impl Stood {
    /// A replay that goes on from here; `None` when the index contradicts itself. Objects that are there
    /// have the cells of `tables`.
    pub(super) fn replay<L: Lens<Tag = Tag>>(
        self,
        tables: &Tables,
        window: Window,
        limits: Limits,
        lens: L,
    ) -> Option<Replay<L>> {
        let Stood { standing, heap } = self;
        let cells = standing.cells();
        let is_known = |tag: Tag| tag.cell() < cells;
        let mut spans = heap.spans();
        let all = spans.all(|view| view.objects().all(|(_, tag)| is_known(tag)));
        if !(all && heap.strays().all(is_known)) {
            return None;
        }
        drop(spans);
        let mut sites = tables.sites(&standing.met)?;
        sites.unknown = standing.unknown_sites;
        let mut replay = Replay {
            heap,
            clock: standing.clock(),
            threads: Threads::kept(standing.threads()),
            sites,
            side: standing.side(),
            counts: standing.counts,
            other: standing.other,
            generations: standing.generations,
            last: standing.last(),
            limits: Some(limits),
            ..Replay::new(window, lens)
        };
        replay.set_boundary();
        Some(replay)
    }
}

/// The last segment that begins before this time and where a replay can begin.
pub(super) fn before(segments: &[Segment], time: Time) -> usize {
    let segments = segments.iter().enumerate().skip(1).rev();
    let mut before = segments.filter(|(_, segment)| segment.at.last < time.0);
    before.find(|(_, segment)| segment.stand.is_some()).map_or(0, |(number, _)| number)
}

impl At {
    pub(super) fn resume(self) -> Resume {
        let At { version, offset, last, syncs } = self;
        Resume { version, offset, last: Time(last), syncs }
    }
}
