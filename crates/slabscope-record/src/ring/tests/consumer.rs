//! Takes everything from all rings, as a drainer does, and holds it against what a drainer relies on.

extern crate std;

use std::vec::Vec;

use super::super::*;
use crate::counts::EventKind;
use slabscope_wire::live::word::{self, Word};

pub(super) struct Consumer<'a> {
    rings: &'a Rings,
    places: Vec<Place>,
    /// For each thread: time, ring and number of every event, in the order they were met.
    pub(super) seen: Vec<Vec<(u64, usize, u64)>>,
    /// Events of signal handlers.
    pub(super) handled: u64,
    /// Events that have the time of the one before.
    pub(super) shared: u64,
    horizon: u64,
}

#[derive(Clone, Copy, Default)]
struct Place {
    taken: u64,
    thread: u32,
    ticks: u64,
    /// Whether the last event named its time, or one that it shares it with.
    has_time: bool,
}

impl<'a> Consumer<'a> {
    pub(super) fn new(rings: &'a Rings, threads: u32) -> Self {
        Consumer {
            rings,
            places: std::vec![Place::default(); rings.count()],
            seen: (0..=threads).map(|_| Vec::new()).collect(),
            handled: 0,
            shared: 0,
            horizon: 0,
        }
    }

    pub(super) fn round(&mut self) {
        let mut horizon = self.rings.horizon();
        for ring in 0..self.rings.count() {
            let from = self.places[ring].taken;
            let end = from + self.rings.available(ring, from);
            assert!(end - from <= CAPACITY, "more words than the ring has");
            let mut at = from;
            while at < end {
                if !self.record(ring, &mut at) {
                    // The event that belongs there may be as old as the one before it.
                    horizon = horizon.min(self.places[ring].ticks);
                    break;
                }
            }
            self.rings.release(ring, from, at);
            self.places[ring].taken = at;
        }
        self.horizon = horizon;
    }

    /// Reads one record; `false` at a hole.
    fn record(&mut self, ring: usize, at: &mut u64) -> bool {
        let mut next = || {
            *at += 1;
            word::decode(self.rings.word(ring, *at - 1))
        };
        let place = &mut self.places[ring];
        let mut word = next();
        if word == Word::Hole {
            *at -= 1;
            assert!(self.rings.is_cas(ring), "a ring of this kind has no holes");
            return false;
        }
        let before = *place;
        if let Word::Run(thread) = word {
            (place.thread, place.has_time) = (thread, false);
            word = next();
        }
        if let Word::Time(ticks) = word {
            // On this the order between rings depends.
            // What was at a hole may share the time of the event before it.
            let is_late = ticks < self.horizon + u64::from(!self.rings.is_cas(ring));
            assert!(!is_late, "an event from before the last horizon appears late");
            assert!(ticks >= place.ticks, "time goes back in a ring");
            (place.ticks, place.has_time) = (ticks, true);
            word = next();
        }
        let Word::Event { kind, id, site } = word else { panic!("a torn record") };
        assert!(place.has_time, "the first event of a thread in a row has no time");
        if place.ticks == before.ticks {
            assert_eq!(place.thread, before.thread, "two threads have one time");
            self.shared += 1;
        }
        match kind {
            EventKind::ObjectFree => {
                self.handled += 1;
                return true;
            }
            EventKind::ObjectAlloc => assert!(!id.is_multiple_of(7)),
            EventKind::SpanAlloc => assert_eq!(next(), Word::Argument(id * 3)),
            other => panic!("nobody pushed {other:?}"),
        }
        assert_eq!(site, (id % 1000) as u32);
        self.seen[place.thread as usize].push((place.ticks, ring, id));
        true
    }

    /// Whether times give each thread's order, rings apart.
    pub(super) fn check_order(self, events: u64) {
        for (thread, mut seen) in self.seen.into_iter().enumerate().skip(1) {
            assert_eq!(seen.len() as u64, events, "events of thread {thread}");
            // Stable: what has one time stands in one ring.
            seen.sort_by_key(|&(ticks, ..)| ticks);
            assert!(seen.iter().map(|&(.., n)| n).eq(0..events), "the order of thread {thread}");
            let apart =
                |pair: &[(u64, usize, u64)]| pair[0].0 < pair[1].0 || pair[0].1 == pair[1].1;
            assert!(seen.windows(2).all(apart), "one time in two rings");
        }
    }
}
