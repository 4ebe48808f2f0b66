//! The drainer: one thread that turns what the rings hold into a trace file.
//!
//! It works in rounds. A round fixes a horizon, a moment before which no event can still appear;
//! cuts each ring's words up to there into runs, one thread's events in a row; merges the runs of a
//! thread by time, which puts its events in its own order though it moved between CPUs; and encodes
//! them. It waits for nobody and takes no lock, so whoever waits for it waits for a disk at most.

mod buffers;

use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;

use crate::clock::{Anchor, Anchors};
use crate::counts::KINDS;
use crate::generation::Generation;
use crate::live::{Progress, RingPlace};
use crate::mapped::Mapped;
use crate::modules::Watch;
use crate::output::Tally;
use crate::ring::CAPACITY;
use crate::runs::{self, Run, Runs, Stop, Walk};
use crate::session::Session;
use slabscope_os::file::Errno;
use slabscope_os::{futex, say};
use slabscope_wire::alloc_free::EndReason;
use slabscope_wire::live::word::{self, Word};

pub(crate) use self::buffers::Buffers;
use self::buffers::Place;

/// The pause between rounds when nobody is pressed, and little happens.
const PAUSE: Duration = Duration::from_millis(5);

/// The pause between rounds while threads share readings: with each round readings become too old.
const BEAT: Duration = Duration::from_micros(500);

/// Events of a round from which on threads share readings. With fewer there is time to read the clock for
/// each.
const BUSY_EVENTS: u64 = 64;

/// Rounds in a row with fewer, until threads share none: a busy program is quiet for a moment many times, and
/// would else read the clock for each event until the end of the next, long, pause.
const QUIET_ROUNDS: u32 = 20;

/// The pause after a round that found nothing, whoever presses.
const REST: Duration = Duration::from_micros(50);

/// Nanoseconds between two reports of the heap's size.
const LIVE_EVERY_NS: u64 = 10_000_000;

struct Drainer<'a> {
    session: &'a Session,
    generation: Generation<'a>,
    anchors: Anchors,
    places: Mapped<Place>,
    runs: Runs,
    /// The last round's horizon, in ticks.
    horizon: u64,
    live: u64,
    live_ns: u64,
    events_in_generation: bool,
    modules: Watch,
    /// Events taken in this round.
    taken: Tally,
    /// Rounds in a row with few events.
    quiet: u32,
    /// Whether the trace was ended early.
    failed: bool,
    /// Whether a ring holds what nobody pushed: then none is read any more.
    torn: bool,
}

/// Drains `session` until it is told to end.
pub(crate) fn run(session: &Session) {
    // They are there for the first who asks, and nobody else does.
    let Some(buffers) = session.buffers.try_lock().and_then(|mut buffers| buffers.take()) else {
        return;
    };
    let mut drainer = Drainer::new(session, buffers);
    loop {
        // Looked at before the round, so that the last round sees all that was pushed before.
        let ending = session.ending();
        let taken = drainer.round(ending.is_some());
        session.signal().round_made();
        if let Some(reason) = ending {
            return drainer.finish(reason);
        }
        session.signal().pause(if session.rings().shares_readings() { BEAT } else { PAUSE });
        if !taken {
            // Somebody has a place in a ring and was interrupted before he filled it: let him run.
            futex::wait(&AtomicU32::new(0), 0, REST);
        }
    }
}

impl<'a> Drainer<'a> {
    fn new(session: &'a Session, buffers: Buffers) -> Self {
        // Events may have come before this thread did.
        let [anchor, second] = session.begun();
        let mut anchors = Anchors::new(anchor);
        anchors.cover(second.ticks, second);
        Drainer {
            session,
            generation: Generation::first(session, anchor.nanos, buffers.generation),
            anchors,
            places: buffers.places,
            runs: buffers.runs,
            horizon: anchor.ticks,
            live: u64::MAX,
            live_ns: 0,
            events_in_generation: false,
            modules: Watch::new(second.nanos),
            taken: Tally::default(),
            quiet: QUIET_ROUNDS,
            failed: false,
            torn: false,
        }
    }

    /// Takes everything that happened before now; whether that was anything. In the `last` round
    /// nobody pushes any more: who has not filled his place will not, since it was interrupted by a
    /// signal handler that ends the process.
    fn round(&mut self, last: bool) -> bool {
        let rings = self.session.rings();
        let mut horizon = rings.horizon();
        let now = Anchor::now(!rings.ticks_are_time());
        for ring in (0..rings.count()).filter(|&ring| rings.is_cas(ring)) {
            if let Some(bound) = self.hole_bound(ring).filter(|_| !last) {
                horizon = horizon.min(bound);
            }
        }
        self.horizon = self.horizon.max(horizon);
        self.anchors.cover(self.horizon, now);
        self.runs.clear();
        for ring in 0..rings.count() {
            self.collect(ring, last);
        }
        self.runs.sort();
        self.encode_all();
        self.after_round();
        self.checkpoint();
        // Before the rings let go of what is not in the trace: a kill would find neither.
        if !self.failed && (self.generation.out.failure().is_some() || self.session.has_failed()) {
            self.fail();
        }
        let mut taken = false;
        for (ring, place) in self.places.as_mut_slice().iter_mut().enumerate() {
            if place.next != place.taken {
                taken = true;
                rings.release(ring, place.taken, place.next);
                place.taken = place.next;
            }
        }
        let events: u64 = self.taken.iter().sum();
        self.quiet = if events > BUSY_EVENTS { 0 } else { self.quiet.saturating_add(1) };
        rings.share_readings(self.quiet < QUIET_ROUNDS && self.session.may_share_readings());
        for (kind, count) in KINDS.into_iter().zip(core::mem::take(&mut self.taken)) {
            self.session.taken.add(kind, count);
        }
        taken
    }

    /// If a record of `ring` has its place and not yet its words: the time of the one before it,
    /// which is a bound from below on its own.
    fn hole_bound(&self, ring: usize) -> Option<u64> {
        let rings = self.session.rings();
        let place = self.places.get(ring)?;
        let mut walk = Walk {
            ring,
            at: place.taken,
            end: place.taken + rings.available(ring, place.taken),
            thread: place.thread,
            records: 0,
            ticks: 0,
        };
        match walk.go(rings, u64::MAX, |_, _, _| {}) {
            Stop::Hole | Stop::Torn => Some(self.horizon.max(walk.ticks)),
            Stop::End | Stop::Later => None,
        }
    }

    /// Cuts the words of `ring` up to the horizon into runs; in the last round, past holes.
    fn collect(&mut self, ring: usize, last: bool) {
        let rings = self.session.rings();
        let Some(&before) = self.places.get(ring) else { return };
        let available = rings.available(ring, before.taken);
        let end = before.taken + available;
        // Words that were taken cannot come back, unless a head was torn too.
        self.torn |= available > CAPACITY;
        let (at, thread, records) = (before.taken, before.thread, before.records);
        let mut walk = Walk { ring, at, end, thread, records, ticks: 0 };
        while !self.torn {
            let (runs, mut run) = (&mut self.runs, None::<Run>);
            let stop = walk.go(rings, self.horizon, |thread, start, from| {
                if run.is_none_or(|run| run.thread != thread) {
                    runs.keep(run.take(), from);
                    run = Some(Run { start, from, to: from, thread, ring: ring as u32 });
                }
            });
            runs.keep(run, walk.at);
            match stop {
                Stop::Hole if last => {
                    walk.at = runs::after_hole(rings, ring, walk.at, end);
                    walk.ticks = 0;
                }
                Stop::Torn => self.torn = true,
                _ => break,
            }
        }
        if self.torn {
            self.session.tear();
            // They happened, and nobody can say whose they are and when.
            runs::count_events(rings, ring, walk.at, end, &mut self.taken);
            walk.at = end;
        }
        let Walk { at, thread, records, .. } = walk;
        if let Some(slot) = self.places.as_mut_slice().get_mut(ring) {
            *slot = Place { next: at, thread, records, ..before };
        }
    }

    /// Writes the events of all runs, which are sorted. Where a thread left a CPU and came back to
    /// it with nobody else there meanwhile, one run spans the time of others: it is cut there.
    fn encode_all(&mut self) {
        let mut index = 0;
        while let Some(run) = self.runs.get(index) {
            let next = self.runs.get(index + 1).filter(|next| next.thread == run.thread);
            match self.encode(run, next.map_or(u64::MAX, |next| next.start)) {
                Some(rest) => self.runs.put_back(index, rest),
                None => index += 1,
            }
        }
    }

    /// Writes the events of one run that are before `limit`, in ticks; returns the others.
    fn encode(&mut self, run: Run, limit: u64) -> Option<Run> {
        let (rings, ring) = (self.session.rings(), run.ring as usize);
        let entry = self.session.threads().get(run.thread);
        let thread = entry.id.load(Ordering::Relaxed);
        // As of the last round: each is in the trace as a whole, or is not.
        let failed = self.failed;
        let number = self.generation.number;
        entry.generation.store(number, Ordering::Relaxed);
        self.events_in_generation = true;
        let (mut at, mut ns) = (run.from, 0);
        while at < run.to {
            match word::decode(rings.word(ring, at)) {
                Word::Time(ticks) if ticks >= limit => {
                    return Some(Run { start: ticks, from: at, ..run });
                }
                Word::Time(ticks) => ns = self.anchors.nanos(ticks),
                Word::Event { kind, id, site } => {
                    if let Some(count) = self.taken.get_mut(kind as usize) {
                        *count += 1;
                    }
                    let has_argument = kind.has_argument();
                    at += u64::from(has_argument);
                    if !failed {
                        self.generation.note_site(site);
                        let Generation { batch, out, .. } = &mut self.generation;
                        batch.make_room(out, number, thread, ns);
                        if !has_argument {
                            batch.object(ns, kind, id, site);
                        } else if let Word::Argument(argument) = word::decode(rings.word(ring, at))
                        {
                            batch.event(ns, kind, id, argument);
                        }
                    }
                }
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// What a round ends with: sites, the size of the heap, and a new generation when it is time.
    fn after_round(&mut self) {
        if self.generation.out.failure().is_some() || self.session.has_failed() {
            return;
        }
        let generation = &mut self.generation;
        if let Some(stacks) = self.session.stacks()
            && self.modules.look(stacks, self.session.live())
        {
            generation.note_modules();
        }
        generation.batch.close(&mut generation.out, generation.number);
        generation.write_sites();
        let now_ns = self.anchors.nanos(self.horizon);
        if now_ns.saturating_sub(self.live_ns) > LIVE_EVERY_NS {
            let live = self.session.live_bytes();
            if live != self.live {
                generation.write_live(now_ns, live);
                (self.live, self.events_in_generation) = (live, true);
            }
            self.live_ns = now_ns;
        }
        if self.events_in_generation && generation.is_full(now_ns) {
            generation.next(now_ns);
            // The heap's size is said again in each generation.
            (self.live, self.events_in_generation) = (u64::MAX, false);
        }
        generation.out.end_round(false);
    }

    /// What was taken is in the trace now, or in the chunk: notes that, before the rings let go of it.
    fn checkpoint(&self) {
        if self.generation.out.failure().is_some() {
            return;
        }
        let (written, chunk_len) = self.generation.out.parts();
        let progress = Progress {
            written,
            chunk_len,
            generation: self.generation.number,
            generation_start: self.generation.start_ns(),
            clock: self.anchors.last_two(),
            events: self.generation.out.events(),
        };
        let rings = self.places.iter().map(|place| RingPlace {
            taken: place.next,
            thread: place.thread,
            records: place.records,
        });
        self.session.live().checkpoint(&progress, rings);
    }

    /// The file takes no more, or a thread has waited too long for it: from now on everything is
    /// counted as lost.
    fn fail(&mut self) {
        self.failed = true;
        match self.generation.out.failure() {
            Some(Errno::TIMED_OUT) => self.session.stall(),
            Some(why) if !self.session.has_failed() => {
                self.session.set_failed();
                say::line(&[
                    "writing the trace failed: ",
                    why.text(),
                    "; the trace ends here and can be read, the program goes on",
                ]);
            }
            _ => self.generation.give_up(),
        }
        // Before the file is cut: what a kill leaves from here on is not to be recovered.
        self.session.live().end();
        self.end_after_failure();
    }

    fn end_after_failure(&mut self) {
        let places = &self.places;
        self.generation.end_after_failure(places.iter().map(|place| place.records));
    }

    fn finish(mut self, reason: EndReason) {
        let failed = self.session.has_failed();
        let reason = if failed { EndReason::WriteFailed } else { reason };
        let now_ns = self.anchors.nanos(self.horizon);
        if !failed {
            self.generation.write_live(now_ns, self.session.live_bytes());
        }
        let places = &self.places;
        self.generation.finish(reason, places.iter().map(|place| place.records));
        if self.failed {
            self.end_after_failure();
        } else if self.generation.out.failure().is_some() {
            self.fail();
        }
        for (lost, (kind, in_file)) in
            self.session.lost.iter().zip(KINDS.into_iter().zip(self.generation.out.events()))
        {
            let happened = self.session.happened(kind);
            lost.store(happened.saturating_sub(in_file), Ordering::Relaxed);
        }
        let failure = self.generation.out.failure().map_or(0, |error| error.0.max(1));
        self.session.failure.store(failure as u32, Ordering::Relaxed);
        self.session.written.store(self.generation.out.file_len(), Ordering::Relaxed);
    }
}

/// So that a tally has a place for each kind.
const _: () = assert!(size_of::<Tally>() == 9 * size_of::<u64>());
