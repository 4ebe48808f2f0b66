//! Both protocols under load: nothing lost, torn, doubled or out of order.

extern crate std;

use std::sync::atomic::AtomicU32;
use std::thread;
use std::vec::Vec;

use super::*;
use crate::counts::EventKind;
use slabscope_wire::live::word::{self, Word};

/// Threads that push, more than there are CPUs.
const THREADS: u32 = 5;

/// Events of each.
const EVENTS: u64 = 200_000;

fn rings(force_cas: bool) -> Rings {
    let count = Rings::count_needed();
    let heads = Mapped::new(count).expect("memory for heads");
    let words = Mapped::new(count * CAPACITY as usize).expect("memory for words");
    Rings::new(heads, words, force_cas)
}

/// Takes everything from all rings, as a drainer does, until all threads have ended and been read.
struct Consumer<'a> {
    rings: &'a Rings,
    taken: Vec<u64>,
    thread: Vec<u32>,
    last_ticks: Vec<u64>,
    /// For each thread: time and number of every event, in the order they were met.
    seen: Vec<Vec<(u64, u64)>>,
    horizon: u64,
}

impl<'a> Consumer<'a> {
    fn new(rings: &'a Rings) -> Self {
        Consumer {
            rings,
            taken: std::vec![0; rings.count()],
            thread: std::vec![0; rings.count()],
            last_ticks: std::vec![0; rings.count()],
            seen: (0..=THREADS).map(|_| Vec::new()).collect(),
            horizon: 0,
        }
    }

    fn round(&mut self) {
        let mut horizon = self.rings.horizon();
        for ring in 0..self.rings.count() {
            let from = self.taken[ring];
            let end = from + self.rings.available(ring, from);
            assert!(end - from <= CAPACITY, "more words than the ring has");
            let mut at = from;
            while at < end {
                if !self.record(ring, &mut at) {
                    // The event that belongs there may be as old as the one before it.
                    horizon = horizon.min(self.last_ticks[ring]);
                    break;
                }
            }
            self.rings.release(ring, from, at);
            self.taken[ring] = at;
        }
        self.horizon = horizon;
    }

    /// Reads one record; `false` at a hole.
    fn record(&mut self, ring: usize, at: &mut u64) -> bool {
        let mut next = || {
            *at += 1;
            word::decode(self.rings.word(ring, *at - 1))
        };
        let time = match next() {
            Word::Hole => {
                *at -= 1;
                assert!(self.rings.is_cas(ring), "a ring of this kind has no holes");
                return false;
            }
            Word::Run(thread) => {
                self.thread[ring] = thread;
                next()
            }
            other => other,
        };
        let (Word::Time(ticks), Word::Event { kind, id, site }) = (time, next()) else {
            panic!("a torn record");
        };
        assert!(ticks > self.last_ticks[ring], "time stands still or goes back in a ring");
        // On this the order between rings depends.
        assert!(ticks > self.horizon, "an event from before the last horizon appears late");
        self.last_ticks[ring] = ticks;
        assert_eq!(site, (id % 1000) as u32);
        match kind {
            EventKind::ObjectAlloc => assert_eq!(id % 2, 0),
            EventKind::SpanAlloc => assert_eq!(next(), Word::Argument(id * 3)),
            other => panic!("nobody pushed {other:?}"),
        }
        self.seen[self.thread[ring] as usize].push((ticks, id));
        true
    }
}

fn push(rings: &Rings, thread: u32, n: u64) {
    let site = (n % 1000) as u32;
    let (first, second) = match n % 2 {
        0 => (word::event(EventKind::ObjectAlloc, n, site), 0),
        _ => (word::event(EventKind::SpanAlloc, n, site), word::argument(n * 3)),
    };
    loop {
        match rings.push(thread, first, second) {
            Pushed::Done(used) => return assert!(used <= CAPACITY),
            Pushed::Full => thread::yield_now(),
            Pushed::NoCpu => panic!("there is a ring for every CPU"),
        }
    }
}

fn stress(force_cas: bool) {
    let rings = super::tests::rings(force_cas);
    let pushing = AtomicU32::new(THREADS);
    let mut consumer = Consumer::new(&rings);
    thread::scope(|scope| {
        for thread in 1..=THREADS {
            let (rings, pushing) = (&rings, &pushing);
            scope.spawn(move || {
                for n in 0..EVENTS {
                    push(rings, thread, n);
                    if n % 1000 == 0 {
                        // Often enough to be moved to another CPU.
                        thread::yield_now();
                    }
                }
                pushing.fetch_sub(1, Ordering::Release);
            });
        }
        while pushing.load(Ordering::Acquire) > 0 {
            consumer.round();
        }
    });
    consumer.round();
    for (thread, mut seen) in consumer.seen.into_iter().enumerate().skip(1) {
        assert_eq!(seen.len() as u64, EVENTS, "events of thread {thread}");
        // Rings apart, a thread's times give its order.
        seen.sort_unstable();
        assert!(seen.iter().map(|&(_, n)| n).eq(0..EVENTS), "the order of thread {thread}");
        assert!(seen.windows(2).all(|pair| pair[0].0 < pair[1].0), "two events at one time");
    }
}

#[test]
fn nothing_is_lost_or_out_of_order_by_compare_and_swap() {
    stress(true);
}

#[test]
fn nothing_is_lost_or_out_of_order_by_restartable_sequences() {
    let rings = super::tests::rings(false);
    if matches!(rings.protocol(), Protocol::Cas) {
        std::eprintln!("this C library or kernel has no restartable sequences: not tested");
        return;
    }
    stress(false);
}

#[test]
fn a_full_ring_refuses_and_loses_nothing() {
    for force_cas in [false, true] {
        let rings = super::tests::rings(force_cas);
        let mut pushed = std::vec![0_u64; rings.count()];
        let mut consumer = Consumer::new(&rings);
        let mut n = 0;
        // Until some ring is full; which one it is depends on where this thread runs.
        loop {
            let first = word::event(EventKind::ObjectAlloc, n * 2, (n * 2 % 1000) as u32);
            match rings.push(1, first, 0) {
                Pushed::Done(_) => n += 1,
                Pushed::Full => break,
                Pushed::NoCpu => panic!("there is a ring for every CPU"),
            }
        }
        for (ring, words) in pushed.iter_mut().enumerate() {
            *words = rings.available(ring, 0);
            assert!(*words <= CAPACITY);
        }
        assert!(pushed.iter().any(|&words| words > CAPACITY - RESERVE - 2 * RECORD_MAX));
        // What interrupts somebody has room all the same.
        let urgent = n * 2;
        let first = word::event(EventKind::ObjectAlloc, urgent, (urgent % 1000) as u32);
        assert!(matches!(rings.push_reentrant(1, first, 0), Pushed::Done(_)));
        n += 1;
        consumer.round();
        assert_eq!(consumer.seen[1].len() as u64, n);
        push(&rings, 1, n * 2);
        consumer.round();
        assert_eq!(consumer.seen[1].len() as u64, n + 1, "there is room again");
    }
}
