//! A trace replayed, in one pass, for whoever wants to know something of it.
//!
//! The replay reads events, keeps the heap, and knows sites, threads and clocks; a [`Lens`] hears of
//! each change and keeps what it needs for its answer.

mod failure;
mod kinds;
mod replayed;
mod visit;

use std::ops::ControlFlow;
use std::thread;

use slabscope_trace::alloc_free::{AllocFree, GenerationData};
use slabscope_trace::{
    Error, Event, Kind, Open, Placed, Reader, Resume, Row, Run, Sync, ThreadId, Time, Visitor,
};

use crate::error::AnalyzeError;
use crate::heap::{Geography, Heap, In, Listener, Units, is_of_span};
use crate::moment::Clock;
use crate::side_data::SideData;
use crate::sites::{Numbered, Sites};
use crate::threads::{Owner, Threads};
use crate::window::{Limits, Window};
pub(crate) use failure::read_error;
pub(crate) use kinds::KINDS;
use kinds::{ALLOC, FREE};
pub(crate) use kinds::{event_name, is_alloc_or_free, is_of_object, kind};
pub(crate) use replayed::{Replayed, judge};

/// The event being replayed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) time: Time,
    pub(crate) thread: i64,
    /// The thread's index in [`Threads`].
    pub(crate) owner: Owner,
    /// What is allocated; unknown in other events.
    pub(crate) site: Numbered,
    /// Which of the nine kinds of events it is; [`event_name`] tells.
    pub(crate) kind: u8,
    /// What the event names.
    pub(crate) id: u64,
}

impl Default for Now {
    fn default() -> Self {
        let (owner, site) = (Owner::BEFORE, Numbered::UNKNOWN);
        Now { time: Time(0), thread: 0, owner, site, kind: 0, id: 0 }
    }
}

/// What hears of each event and of what it does to the heap.
pub(crate) trait Lens: Listener {
    /// Where it keeps the current event.
    fn now(&mut self) -> &mut Now;
    /// The event that was put there comes next; then the heap tells what it did.
    fn event(&mut self, sites: &Sites);
    /// Objects are allocated and freed whose slots were found; thread and owner were put there.
    fn row(&mut self, heap: &mut Heap<Self::Tag>, sites: &mut Sites, row: Row<'_>)
    where
        Self: Sized,
    {
        for event in row {
            self.placed(heap, sites, &event);
            if self.has_enough() {
                break;
            }
        }
    }
    /// One of them.
    fn placed(&mut self, heap: &mut Heap<Self::Tag>, sites: &mut Sites, event: &Placed)
    where
        Self: Sized,
    {
        let &Placed { time, id, ty, is_alloc, .. } = event;
        let site = if is_alloc { sites.of_object(ty) } else { Numbered::UNKNOWN };
        let kind = if is_alloc { ALLOC } else { FREE };
        let now = self.now();
        *now = Now { time, site, kind, id, ..*now };
        self.event(sites);
        match is_alloc {
            true => heap.object_in(id, In::Allocated, self),
            false => heap.object_out(id, self),
        }
    }
    /// The clock is known, or known better.
    fn sync(&mut self, clock: &Clock);
    /// The part to look at begins: what there is stays, what happened is to be forgotten.
    fn window_begins(&mut self, time: Time);
    /// Whether it wants to hear no more.
    fn has_enough(&self) -> bool {
        false
    }
}

/// Replays the part `window` of a trace.
///
/// `progress` is told now and then how many bytes were read.
pub(crate) fn replay<L: Lens>(
    trace: Open<'_>,
    window: Window,
    lens: L,
    progress: &mut dyn FnMut(u64),
) -> Result<Replayed<L>, AnalyzeError> {
    let mut replay = Replay::new(window, lens);
    let (version, error) = replay.read(trace, &mut Unwatched, progress)?;
    replay.finish(version, error)
}

/// Who wants to know where generations begin.
pub(crate) trait Watch<L: Lens> {
    /// A sync event comes next, with which reading could go on from `at`. If this breaks, the replay
    /// ends before the event.
    fn sync(&mut self, replay: &mut Replay<L>, at: Resume, sync: &Sync) -> ControlFlow<()>;
}

/// Nobody does.
pub(crate) struct Unwatched;

impl<L: Lens> Watch<L> for Unwatched {
    fn sync(&mut self, _: &mut Replay<L>, _: Resume, _: &Sync) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// A replay under way.
#[derive(Debug)]
pub(crate) struct Replay<L: Lens> {
    pub(crate) heap: Heap<L::Tag>,
    pub(crate) lens: L,
    pub(crate) clock: Clock,
    pub(crate) threads: Threads,
    /// The thread of the next events.
    pub(crate) thread: ThreadId,
    /// Who that is, once it was looked up; `None` where it depends on the time.
    pub(crate) owner: Option<Owner>,
    /// Whether the places hold that were found ahead of the replay: they are those of this heap.
    pub(crate) has_places: bool,
    pub(crate) sites: Sites,
    pub(crate) side: SideData,
    pub(crate) counts: [u64; KINDS],
    pub(crate) other: u64,
    /// What was counted before the part began.
    pub(crate) before: ([u64; KINDS], u64),
    pub(crate) generations: u64,
    /// A generation may have begun, or the trace ended: the next event tells.
    pub(crate) is_pending: bool,
    pub(crate) last: Option<Time>,
    pub(crate) window: Window,
    pub(crate) limits: Option<Limits>,
    /// The next time at which the part begins or ends.
    pub(crate) boundary: Time,
    pub(crate) has_begun: bool,
    pub(crate) is_over: bool,
}

const NEVER: Time = Time(i64::MAX);

impl<L: Lens> Replay<L> {
    /// Before the first event.
    pub(crate) fn new(window: Window, lens: L) -> Replay<L> {
        Replay {
            // Side data say if it is not Go's.
            heap: Heap::new(Units::default(), true),
            lens,
            clock: Clock::default(),
            threads: Threads::default(),
            thread: ThreadId::NONE,
            owner: None,
            has_places: false,
            sites: Sites::default(),
            side: SideData::default(),
            counts: [0; KINDS],
            other: 0,
            before: ([0; KINDS], 0),
            generations: 0,
            is_pending: false,
            last: None,
            window,
            limits: None,
            boundary: NEVER,
            has_begun: window.from.is_none(),
            is_over: false,
        }
    }

    /// Replays a trace from here on, to the end of the part. Returns its format, and what ended that
    /// before the end of the trace.
    pub(crate) fn read(
        &mut self,
        trace: Open<'_>,
        watch: &mut impl Watch<L>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(u8, Option<Error>), AnalyzeError> {
        // Another thread decodes ahead where there is another CPU for it.
        let is_ahead = thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1);
        let trace = trace.placing(Geography::of(&self.heap));
        self.has_places = true;
        let mut read = |mut reader: Reader<'_>| {
            let read = self.all(&mut reader, watch, progress);
            progress(reader.offset());
            read.map(|error| (reader.version(), error))
        };
        if is_ahead { trace.ahead(read) } else { read(trace.here()) }
    }

    fn all(
        &mut self,
        reader: &mut Reader<'_>,
        watch: &mut impl Watch<L>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Option<Error>, AnalyzeError> {
        let mut offset = 0;
        loop {
            let at = reader.resume();
            let Some(run) = reader.next_run() else { break };
            let flow = match run {
                Ok(Run::Event(event)) => self.event(&event, at, watch)?,
                Ok(Run::Experimental(mut run)) => run.visit(self),
                Err(error) => return Ok(Some(error)),
            };
            if flow.is_break() {
                break;
            }
            if reader.offset() != offset {
                offset = reader.offset();
                progress(offset);
            }
        }
        Ok(None)
    }

    fn event(
        &mut self,
        event: &Event,
        at: Resume,
        watch: &mut impl Watch<L>,
    ) -> Result<ControlFlow<()>, AnalyzeError> {
        if let Kind::Sync(sync) = &event.kind {
            if watch.sync(self, at, sync).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            self.sync(event, sync)?;
            return Ok(ControlFlow::Continue(()));
        }
        if let Kind::Experimental(experimental) = &event.kind {
            let flow = self.thread(event.thread);
            if flow.is_break() {
                return Ok(flow);
            }
            let what = AllocFree::from_event(experimental);
            // Nobody was shown this one ahead.
            self.has_places &= !what.is_some_and(is_of_span);
            return Ok(self.other(event.time, what));
        }
        let flow = self.begin_event(event.time);
        self.other += u64::from(flow.is_continue());
        Ok(flow)
    }

    /// What comes before every event but a sync: it may be the first of a generation, or of the
    /// part, or behind it.
    #[inline]
    fn begin_event(&mut self, time: Time) -> ControlFlow<()> {
        if time >= self.boundary {
            return self.pass_boundary(time);
        }
        self.last = Some(time);
        ControlFlow::Continue(())
    }

    #[cold]
    fn pass_boundary(&mut self, time: Time) -> ControlFlow<()> {
        if self.is_over(time) {
            return ControlFlow::Break(());
        }
        if self.is_pending {
            self.is_pending = false;
            self.generations += 1;
        }
        self.last = Some(time);
        ControlFlow::Continue(())
    }

    /// The part begins or ends with the event of this time; returns whether it ends.
    #[cold]
    fn is_over(&mut self, time: Time) -> bool {
        let Some(limits) = self.limits else { return false };
        if let Some(from) = limits.from
            && !self.has_begun
            && time >= from
        {
            self.has_begun = true;
            self.before = (self.counts, self.other);
            self.lens.window_begins(from);
        }
        self.is_over = limits.to.is_some_and(|to| time >= to);
        self.set_boundary();
        self.is_over
    }

    /// The next event to look at more closely: one from this time on.
    pub(crate) fn set_boundary(&mut self) {
        let Some(limits) = self.limits else { return };
        self.boundary = match (self.has_begun, limits) {
            (false, Limits { from: Some(from), .. }) => from,
            (_, limits) => limits.to.unwrap_or(NEVER),
        };
    }

    /// Each generation begins with one of these, and one more comes at the end of the trace: it has
    /// no clock and no side data. In formats before Go 1.25 no generation has a clock, and only
    /// what follows tells.
    #[cold]
    fn sync(&mut self, event: &Event, sync: &Sync) -> Result<(), AnalyzeError> {
        self.clock.sync(event.time, sync.clock);
        self.lens.sync(&self.clock);
        let has_begun = sync.clock.is_some() || !sync.experimental.batches.is_empty();
        self.is_pending = !has_begun;
        if self.limits.is_none() {
            let limits = Limits::new(self.window, &self.clock).ok_or(AnalyzeError::NoWallClock)?;
            self.limits = Some(limits);
        }
        self.set_boundary();
        if self.is_pending {
            self.boundary = Time(i64::MIN);
        }
        if !has_begun {
            return Ok(());
        }
        self.generations += 1;
        let mut data = GenerationData::parse(&sync.experimental);
        self.side.take(self.generations, &mut data);
        self.threads.learn(std::mem::take(&mut data.threads));
        if self.side.is_ours() {
            self.sites.take_sites(&data, event.time, |stack| sync.stack(stack));
        } else {
            self.sites.take_types(data.types);
        }
        if self.last.is_none() {
            self.has_places &= self.side.units() == self.heap.units();
            self.heap = Heap::new(self.side.units(), !self.side.is_ours());
        }
        Ok(())
    }
}
