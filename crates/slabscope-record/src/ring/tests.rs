//! Both protocols under load: nothing lost, torn, doubled or out of order.

extern crate std;

mod consumer;
mod pester;

use std::sync::atomic::AtomicU32;
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::counts::EventKind;
use consumer::Consumer;
use slabscope_wire::live::word;

/// Threads that push, more than there are CPUs.
const THREADS: u32 = 5;

/// Events of each.
const EVENTS: u64 = 200_000;

/// How the rings are made.
#[derive(Clone, Copy)]
struct Kind {
    force_cas: bool,
    ticks_are_time: bool,
    shares: bool,
}

const CAS: Kind = Kind { force_cas: true, ticks_are_time: true, shares: true };
const RSEQ: Kind = Kind { force_cas: false, ..CAS };

fn rings(kind: Kind) -> Rings {
    let count = Rings::count_needed();
    let heads = Mapped::new(count).expect("memory for heads");
    let words = Mapped::new(count * CAPACITY as usize).expect("memory for words");
    let ticks_are_time = kind.ticks_are_time && clock::ticks_are_time();
    let rings = Rings::new(heads, words, kind.force_cas, ticks_are_time);
    rings.share_readings(kind.shares);
    rings
}

fn event(n: u64) -> (bool, [u64; 2]) {
    let site = (n % 1000) as u32;
    if n.is_multiple_of(7) {
        (false, [word::event(EventKind::SpanAlloc, n, site), word::argument(n * 3)])
    } else {
        (true, [word::event(EventKind::ObjectAlloc, n, site), 0])
    }
}

/// Pushes number `n` of a thread, as the emitter does.
fn push(rings: &Rings, clock: &ThreadClock, thread: u32, n: u64) {
    let (may_share, words) = event(n);
    if may_share && rings.extend(clock, words[0]) {
        return;
    }
    let event = Event { thread, words, floor: u64::from(!may_share) };
    let begun = Instant::now();
    while let Pushed::Full = rings.push(clock, event) {
        assert!(begun.elapsed() < Duration::from_secs(20), "nobody takes what is pushed");
        thread::yield_now();
    }
}

fn stress(kind: Kind, pestered: bool) {
    let rings = super::tests::rings(kind);
    let pushing = AtomicU32::new(THREADS);
    let mut consumer = Consumer::new(&rings, THREADS);
    let pesterer = pester::Pesterer::default();
    let handled: u64 = thread::scope(|scope| {
        let threads: std::vec::Vec<_> = (1..=THREADS)
            .map(|thread| {
                let (rings, pushing, pesterer) = (&rings, &pushing, &pesterer);
                scope.spawn(move || {
                    let clock = ThreadClock::new();
                    let victim = pestered.then(|| pesterer.enter(rings, &clock, thread));
                    for n in 0..EVENTS {
                        push(rings, &clock, thread, n);
                        if n.is_multiple_of(1000) {
                            // Often enough to be moved to another CPU.
                            thread::yield_now();
                        }
                    }
                    let handled = victim.map_or(0, |victim| pesterer.leave(&victim));
                    pushing.fetch_sub(1, Ordering::Release);
                    handled
                })
            })
            .collect();
        if pestered {
            scope.spawn(|| pesterer.run(&pushing));
        }
        while pushing.load(Ordering::Acquire) > 0 {
            consumer.round();
        }
        threads.into_iter().map(|thread| thread.join().expect("it pushed all")).sum()
    });
    consumer.round();
    assert_eq!(consumer.handled, handled, "events of signal handlers");
    std::eprintln!("{} of {} readings shared", consumer.shared, u64::from(THREADS) * EVENTS);
    assert_eq!(consumer.shared > 0, kind.shares);
    consumer.check_order(EVENTS);
}

fn stress_by_rseq(kind: Kind, pestered: bool) {
    let rings = super::tests::rings(kind);
    if matches!(rings.protocol(), Protocol::Cas) {
        std::eprintln!("this C library or kernel has no restartable sequences: not tested");
        return;
    }
    stress(kind, pestered);
}

#[test]
fn nothing_is_lost_or_out_of_order_by_compare_and_swap() {
    stress(CAS, false);
}

#[test]
fn nothing_is_lost_or_out_of_order_by_the_kernels_clock() {
    stress(Kind { ticks_are_time: false, ..CAS }, false);
}

#[test]
fn nothing_is_lost_or_out_of_order_by_restartable_sequences() {
    stress_by_rseq(RSEQ, false);
}

#[test]
fn nothing_is_lost_or_out_of_order_when_every_event_reads_the_clock() {
    stress_by_rseq(Kind { shares: false, ..RSEQ }, false);
}

#[test]
fn signals_and_migrations_do_no_harm_by_compare_and_swap() {
    stress(CAS, true);
}

#[test]
fn signals_and_migrations_do_no_harm_by_restartable_sequences() {
    stress_by_rseq(RSEQ, true);
}

#[test]
fn a_full_ring_refuses_and_loses_nothing() {
    for kind in [RSEQ, CAS] {
        let rings = super::tests::rings(kind);
        let mut pushed = std::vec![0_u64; rings.count()];
        let mut consumer = Consumer::new(&rings, 1);
        let clock = ThreadClock::new();
        let free = |n: u64| Event {
            thread: 1,
            words: [word::event(EventKind::ObjectAlloc, n * 7 + 1, ((n * 7 + 1) % 1000) as u32), 0],
            floor: 1,
        };
        let mut n = 0;
        // Until some ring is full; which one it is depends on where this thread runs.
        while let Pushed::Done { .. } = rings.push(&clock, free(n)) {
            n += 1;
        }
        for (ring, words) in pushed.iter_mut().enumerate() {
            *words = rings.available(ring, 0);
            assert!(*words <= CAPACITY);
        }
        assert!(pushed.iter().any(|&words| words > CAPACITY - RESERVE - 2 * RECORD_MAX));
        assert_eq!(rings.events_left(), n);
        let mut tally = [0; 9];
        for (ring, &words) in pushed.iter().enumerate() {
            // As if the ring had gone round twice.
            crate::runs::count_events(&rings, ring, words, words + CAPACITY, &mut tally);
        }
        assert_eq!(tally[EventKind::ObjectAlloc as usize], n, "each place of a ring counts once");
        // What interrupts somebody has room all the same.
        assert!(matches!(rings.push_reentrant(free(n)), Pushed::Done { .. }));
        n += 1;
        consumer.round();
        assert_eq!(consumer.seen[1].len() as u64, n);
        assert!(matches!(rings.push(&clock, free(n)), Pushed::Done { .. }));
        consumer.round();
        assert_eq!(consumer.seen[1].len() as u64, n + 1, "there is room again");
    }
}
