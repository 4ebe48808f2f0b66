//! Adding up what the heap model says: the figures of the report.

mod classes;
mod spans;
mod threads;

use slabscope_trace::Time;

use crate::fault::{Example, FaultKind, Faults};
use crate::heap::{In, Listener, Out, Place};
use crate::moment::{Clock, Moment};
use crate::replay::{Lens, Now};
use crate::report::{Objects, Peak, StackAmount, Stacks};
use crate::sites::Sites;
use crate::threads::Owner;

use classes::Classes;
pub(crate) use spans::SpanTally;
pub(crate) use threads::ThreadTally;

/// The figures so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    now: Now,
    /// Bytes asked for by the object being allocated.
    requested: Option<u64>,
    clock: Clock,
    pub(crate) objects: Objects,
    pub(crate) classes: Classes,
    pub(crate) threads: ThreadTally,
    pub(crate) spans: SpanTally,
    pub(crate) stacks: Stacks,
    pub(crate) faults: Faults,
    peaks: Peaks,
}

/// When the peaks were, in times of the trace.
#[derive(Debug, Default)]
struct Peaks {
    objects: Time,
    stacks: Time,
}

impl Tally {
    /// The figures of objects, with the moment of their peak.
    pub(crate) fn objects(&self) -> Objects {
        let mut objects = self.objects;
        objects.peak.at = self.moment_of_peak(self.peaks.objects, objects.peak.bytes);
        objects
    }

    /// The figures of stacks, with the moment of their peak.
    pub(crate) fn stacks(&self) -> Stacks {
        let mut stacks = self.stacks;
        stacks.peak_at = self.moment_of_peak(self.peaks.stacks, stacks.peak.bytes);
        stacks
    }

    /// A peak of nothing is at the start.
    pub(crate) fn moment_of_peak(&self, time: Time, height: u64) -> Moment {
        if height == 0 { self.clock.start() } else { self.clock.moment(time) }
    }
}

impl Lens for Tally {
    #[inline]
    fn event(&mut self, now: Now, sites: &Sites) {
        self.now = now;
        self.requested = sites.get(now.site).size;
    }

    fn sync(&mut self, clock: &Clock) {
        self.clock = *clock;
    }

    /// What there is stays, what happened is forgotten.
    fn window_begins(&mut self, time: Time) {
        let live = self.objects.live;
        let peak = Peak { objects: live.objects, bytes: live.bytes, ..Peak::default() };
        self.objects = Objects { existed: live, live, peak, ..Objects::default() };
        self.classes.window_begins();
        self.threads = ThreadTally::default();
        self.spans.window_begins(time);
        let live = self.stacks.live;
        self.stacks = Stacks { existed: live, live, peak: live, ..Stacks::default() };
        self.peaks = Peaks { objects: time, stacks: time };
    }
}

impl Listener for Tally {
    type Tag = Owner;

    #[inline]
    fn object_in(&mut self, place: Place, how: In) -> Owner {
        let class = self.classes.row(place);
        match how {
            In::Existed => {
                self.objects.existed.add(place.bytes);
                class.existed.add(place.bytes);
            }
            In::Allocated => {
                self.objects.allocated.add(place.bytes);
                class.allocated.add(place.bytes);
                if let Some(requested) = self.requested {
                    self.objects.requested.add(requested, place.bytes);
                    class.requested.add(requested, place.bytes);
                }
                self.threads.allocated(self.now.owner, place.bytes);
            }
        }
        class.live.add(place.bytes);
        let live = &mut self.objects.live;
        live.add(place.bytes);
        let peak = &mut self.objects.peak;
        if live.bytes > peak.bytes {
            (peak.objects, peak.bytes) = (live.objects, live.bytes);
            self.peaks.objects = self.now.time;
        }
        match how {
            In::Existed => Owner::BEFORE,
            In::Allocated => self.now.owner,
        }
    }

    #[inline]
    fn object_out(&mut self, place: Place, owner: Owner, how: Out) {
        let class = self.classes.row(place);
        class.live.sub(place.bytes);
        self.objects.live.sub(place.bytes);
        match how {
            Out::Freed => {
                class.freed.add(place.bytes);
                self.objects.freed.add(place.bytes);
                self.threads.freed(self.now.owner, owner, place.bytes);
            }
            Out::Vanished => self.objects.vanished.add(place.bytes),
        }
    }

    fn object_shares(&mut self) {
        self.objects.sharing += 1;
    }

    fn span_in(&mut self, pages: u64, how: In) {
        self.spans.span_in(pages, how, self.now.time);
    }

    fn span_out(&mut self, pages: u64, how: Out) {
        self.spans.span_out(pages, how);
    }

    fn stack_in(&mut self, bytes: u64, how: In) {
        let stacks = &mut self.stacks;
        let came = match how {
            In::Existed => &mut stacks.existed,
            In::Allocated => &mut stacks.allocated,
        };
        add(came, bytes);
        add(&mut stacks.live, bytes);
        if stacks.live.bytes > stacks.peak.bytes {
            stacks.peak = stacks.live;
            self.peaks.stacks = self.now.time;
        }
    }

    fn stack_out(&mut self, bytes: u64, how: Out) {
        let live = &mut self.stacks.live;
        live.stacks = live.stacks.saturating_sub(1);
        live.bytes = live.bytes.saturating_sub(bytes);
        if how == Out::Freed {
            add(&mut self.stacks.freed, bytes);
        }
    }

    #[cold]
    fn fault(&mut self, kind: FaultKind, id: u64) {
        let (now, clock) = (self.now, self.clock);
        self.faults.add(kind, || Example {
            at: clock.moment(now.time),
            thread: now.thread,
            id,
            event: now.name(),
        });
    }
}

fn add(amount: &mut StackAmount, bytes: u64) {
    amount.stacks += 1;
    amount.bytes = amount.bytes.saturating_add(bytes);
}
