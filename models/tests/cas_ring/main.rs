//! A ring pushed to by compare-and-swap, by the recorder's own `cas.rs`: two threads push while the
//! drainer takes. No event is lost, torn, doubled or out of its thread's order, times do not fall, and
//! none is older than a horizon it appears behind.

use std::collections::BTreeMap;

use loom::sync::Arc;
use loom::thread;
use slabscope_wire::live::word::{self, Word};

use parts::{AtomicU64, Ordering, RingHead, Tail};

#[path = "../../../crates/slabscope-record/src/ring/cas.rs"]
#[expect(dead_code, reason = "not all of a commit is looked at here")]
mod cas;

/// What `cas` is made of, with loom's atomics.
mod parts {
    pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};

    pub(crate) struct Tail {
        pub(crate) words: AtomicU64,
    }

    pub(crate) struct RingHead {
        pub(crate) head: AtomicU64,
        pub(crate) tail: Tail,
    }
}

/// As the recorder's.
#[derive(Clone, Copy)]
pub(crate) struct Event {
    pub(crate) thread: u32,
    pub(crate) words: [u64; 2],
    pub(crate) floor: u64,
}

/// Words of a record without a second word.
const RECORD: u64 = 3;

/// The CPU's counter: each reading is later than all before it, and orders nothing else.
struct Clock(AtomicU64);

impl Clock {
    fn now(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

struct Ring {
    head: RingHead,
    words: Vec<AtomicU64>,
    clock: Clock,
}

impl Ring {
    fn new(words: usize) -> Self {
        Ring {
            head: RingHead { head: AtomicU64::new(0), tail: Tail { words: AtomicU64::new(0) } },
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
            clock: Clock(AtomicU64::new(1)),
        }
    }

    /// Pushes the numbers from 1 on as events of `thread`, each with the reading of the one before if it
    /// may have that.
    fn push_all(&self, thread: u32, count: u64) {
        let room = self.words.len() as u64 - RECORD - 1;
        let mut shared = None;
        for number in 1..=count {
            let kind = word::Word::Event { kind: KIND, id: number, site: thread };
            let Word::Event { kind, id, site } = kind else { unreachable!() };
            let event = Event { thread, words: [word::event(kind, id, site), 0], floor: 0 };
            let commit = loop {
                let now = || self.clock.now();
                match cas::push(&self.head, &self.words, room, now, shared, event) {
                    Some(commit) => break commit,
                    None => thread::yield_now(),
                }
            };
            shared = Some((commit.head, commit.ticks));
        }
    }
}

const KIND: slabscope_wire::alloc_free::EventKind =
    slabscope_wire::alloc_free::EventKind::ObjectAlloc;

/// Takes what is there, as the recorder's drainer does.
#[derive(Default)]
struct Drainer {
    taken: u64,
    horizon: u64,
    last_ticks: u64,
    seen: BTreeMap<u32, Vec<u64>>,
}

impl Drainer {
    fn round(&mut self, ring: &Ring, with_seal: bool) {
        let mut horizon = ring.clock.now();
        if with_seal {
            cas::seal(&ring.head);
        }
        let end = cas::words(ring.head.head.load(Ordering::Acquire));
        let from = self.taken;
        while self.taken < end {
            if !self.record(ring) {
                // The event that belongs there may be as old as the one before it.
                horizon = horizon.min(self.last_ticks);
                break;
            }
        }
        for index in from..self.taken {
            place(ring, index).store(0, Ordering::Relaxed);
        }
        ring.head.tail.words.store(self.taken << cas::EPOCH_BITS, Ordering::Release);
        self.horizon = self.horizon.max(horizon);
    }

    /// Reads one record; `false` at a hole.
    fn record(&mut self, ring: &Ring) -> bool {
        let read = |offset| word::decode(place(ring, self.taken + offset).load(Ordering::Acquire));
        let thread = match read(0) {
            Word::Hole => return false,
            Word::Run(thread) => thread,
            _ => panic!("a torn record"),
        };
        let (Word::Time(ticks), Word::Event { id, site, .. }) = (read(1), read(2)) else {
            panic!("a torn record");
        };
        assert_eq!(site, thread, "a word of another thread's record");
        assert!(ticks >= self.last_ticks, "time goes back");
        // It may share the reading of the event before it, behind whose hole the horizon stopped.
        assert!(ticks >= self.horizon, "an event from before the last horizon appears late");
        self.last_ticks = ticks;
        self.seen.entry(thread).or_default().push(id);
        self.taken += RECORD;
        true
    }
}

fn place(ring: &Ring, index: u64) -> &AtomicU64 {
    &ring.words[index as usize % ring.words.len()]
}

/// Threads that push so many events each, and a drainer that goes round meanwhile and at the end.
fn run<const N: usize>(words: usize, counts: [u64; N], with_seal: bool) {
    let mut model = loom::model::Builder::new();
    // More find nothing else, and take minutes.
    model.preemption_bound = Some(2);
    model.check(move || {
        let ring = Arc::new(Ring::new(words));
        let threads = counts.into_iter().zip(1..).map(|(count, number)| {
            let ring = Arc::clone(&ring);
            thread::spawn(move || ring.push_all(number, count))
        });
        let threads: Vec<_> = threads.collect();
        let mut drainer = Drainer::default();
        drainer.round(&ring, with_seal);
        // Only what has no room waits for the drainer.
        while drainer.taken + words as u64 <= RECORD * counts.iter().sum::<u64>() {
            thread::yield_now();
            drainer.round(&ring, with_seal);
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        drainer.round(&ring, with_seal);
        for (count, number) in counts.into_iter().zip(1..) {
            let seen = drainer.seen.remove(&number).unwrap_or_default();
            assert!(seen.into_iter().eq(1..=count), "each event once, in its order");
        }
    });
}

#[test]
fn nothing_is_lost_torn_doubled_or_out_of_order() {
    run(16, [2, 1], true);
}

#[test]
fn words_are_used_again_when_the_ring_comes_round() {
    run(4, [2], true);
}

#[test]
#[should_panic(expected = "appears late")]
fn without_the_drainers_seal_the_model_finds_a_fault() {
    run(16, [2, 1], false);
}
