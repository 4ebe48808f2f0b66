//! One ring of words for each CPU: many threads push, the drainer takes.
//!
//! Two protocols, chosen when a trace begins: where the C library has registered restartable
//! sequences, a push commits by one plain store ([`slabscope_os::rseq`]); elsewhere by
//! compare-and-swap (`cas`). One ring more, always of the second kind, takes the events of
//! threads that have no CPU number: those the C library does not know, and those on a CPU that was
//! added after the start.
//!
//! An event that follows one of its own thread, with nobody's in between, may share its reading of the
//! clock (`Rings::extend`, `thread_clock.rs`); in a CPU's ring it then has no word for the time.
//!
//! What the drainer relies on: the times in one ring do not fall; a thread's events in one ring are in
//! its order; and after [`Rings::horizon`] no event older than the moment it returns can still appear.

mod cas;
/// What `cas` is made of; its model has other ones.
mod parts {
    pub(super) use core::sync::atomic::{AtomicU64, Ordering};

    pub(super) use slabscope_os::rseq::RingHead;
}

use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use slabscope_os::rseq::{self, Area, RingHead, Tail};
use slabscope_os::{barrier, clock, cpu};
use slabscope_wire::live::{self, word};

use crate::mapped::Mapped;
use crate::reading::{self, Reading};
use crate::thread_clock::{Last, ThreadClock};

/// Words of a ring: 1 MiB.
pub const CAPACITY: u64 = 1 << 17;

const _: () = assert!(size_of::<RingHead>() == live::HEAD_SIZE);
const _: () = assert!(offset_of!(RingHead, tail) + offset_of!(Tail, dropped) == live::HEAD_DROPPED);

/// Words a record takes at most: run, time, event, argument.
const RECORD_MAX: u64 = 4;

/// Words that only re-entrant operations may fill. Such a one must not wait for room by
/// compare-and-swap: the push it interrupted may have left a hole, and nothing behind a hole is taken
/// before it is filled.
const RESERVE: u64 = CAPACITY / 16;

/// Above this many words a thread should wait for the drainer before its next operation. What is
/// left is for operations under way: one has a handful of events, and threads are few at a time.
pub const PRESSED: u64 = CAPACITY / 4 * 3;

/// How a trace's rings are pushed to.
#[derive(Clone, Copy, Debug)]
pub enum Protocol {
    /// By restartable sequences.
    Rseq(Area),
    /// By compare-and-swap.
    Cas,
}

/// What became of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    /// It is committed.
    Done {
        /// Words in the ring before.
        used: u64,
        /// The time it has.
        reading: Reading,
    },
    /// The ring has no room.
    Full,
}

/// An event to push.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) thread: u32,
    /// Its words; the second is 0 for events of one.
    pub(crate) words: [u64; 2],
    /// The earliest time it may have, in ticks; 0 if its thread's last reading will do.
    pub(crate) floor: u64,
}

/// All rings of a trace.
#[derive(Debug)]
pub struct Rings {
    heads: Mapped<RingHead>,
    /// The buffers, one after the other.
    words: Mapped<AtomicU64>,
    protocol: Protocol,
    /// Rings that belong to a CPU; the stray ring comes after them.
    cpus: u32,
    /// Whether the CPU's counter is the clock; else a tick is a nanosecond.
    ticks_are_time: bool,
    /// Whether readings may be shared. Relaxed: a view that is late costs precision for a moment.
    shares_readings: AtomicBool,
}

impl Rings {
    /// How many rings the machine needs: one for each CPU, and the stray one. CPUs beyond what a
    /// `Reading` can name count as CPUs that were added later.
    pub fn count_needed() -> usize {
        cpu::count().min(reading::NOBODY as usize) + 1
    }

    /// Empty rings in this zeroed memory: [`Rings::count_needed`] heads, and [`CAPACITY`] words for
    /// each.
    ///
    /// With `force_cas` the plain protocol is not used even where it could be; without
    /// `ticks_are_time` the kernel's clock takes the place of the CPU's counter.
    pub fn new(
        heads: Mapped<RingHead>,
        words: Mapped<AtomicU64>,
        force_cas: bool,
        ticks_are_time: bool,
    ) -> Self {
        barrier::prepare();
        // The section reads the CPU's counter itself, and the horizon needs the kernel's restart.
        let area =
            (ticks_are_time && barrier::restarts_rseq() && !force_cas).then(rseq::area).flatten();
        let protocol = area.map_or(Protocol::Cas, Protocol::Rseq);
        let cpus = u32::try_from(heads.len() - 1).unwrap_or(1);
        for (head, buffer) in heads.iter().zip(words.chunks(CAPACITY as usize)) {
            head.buffer.store(buffer.as_ptr().addr() as u64, Ordering::Relaxed);
            head.mask.store(CAPACITY - 1, Ordering::Relaxed);
            head.room.store(CAPACITY - RECORD_MAX - RESERVE, Ordering::Relaxed);
        }
        let shares_readings = AtomicBool::new(false);
        Rings { heads, words, protocol, cpus, ticks_are_time, shares_readings }
    }

    /// How many rings there are, the stray one included; it is the last.
    pub fn count(&self) -> usize {
        self.heads.len()
    }

    /// How they are pushed to.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Whether ticks are the CPU's; else they are nanoseconds.
    pub fn ticks_are_time(&self) -> bool {
        self.ticks_are_time
    }

    /// Pushes an event of one word that may have the thread's reading; `false`, and nothing is pushed,
    /// if it needs a fresh one or [`Rings::push`] for another reason.
    #[inline]
    pub(crate) fn extend(&self, clock: &ThreadClock, event: u64) -> bool {
        match self.protocol {
            // SAFETY: the area is this process's; streaks begin on a CPU's ring in `push`, and end
            // before a thread pushes to another trace's rings (`ThreadClock::reset`); an event word
            // is never 0.
            Protocol::Rseq(area) => unsafe { rseq::extend(area, clock.streak(), event) },
            Protocol::Cas => false,
        }
    }

    /// Pushes an event onto the ring of the CPU this runs on; `clock` is its thread's.
    pub(crate) fn push(&self, clock: &ThreadClock, event: Event) -> Pushed {
        let Protocol::Rseq(area) = self.protocol else {
            let ring = cpu::current() % self.cpus as usize;
            return self.push_by_cas(ring, event, 0, Some(clock));
        };
        let begun = clock.begin();
        match self.push_by_rseq(area, event) {
            rseq::Pushed::Done(commit) => {
                let reading = Reading::new(commit.ticks, commit.cpu);
                if self.may_share(event.thread)
                    && let Some(ring) = self.heads.get(commit.cpu as usize)
                {
                    let words = PRESSED.saturating_sub(commit.used + RECORD_MAX);
                    clock.follow(&begun, ring, event.thread, &commit, reading, words);
                }
                Pushed::Done { used: commit.used, reading }
            }
            rseq::Pushed::Full => Pushed::Full,
            rseq::Pushed::NoCpu => self.push_by_cas(self.cpus as usize, event, 0, None),
        }
    }

    /// As [`Rings::push`], for an operation that may have interrupted a push of its thread.
    pub(crate) fn push_reentrant(&self, event: Event) -> Pushed {
        let Protocol::Rseq(area) = self.protocol else {
            let ring = cpu::current() % self.cpus as usize;
            return self.push_by_cas(ring, event, RESERVE, None);
        };
        match self.push_by_rseq(area, event) {
            rseq::Pushed::Done(commit) => {
                let reading = Reading::new(commit.ticks, commit.cpu);
                Pushed::Done { used: commit.used, reading }
            }
            // A push by a restartable sequence leaves no hole; only the stray ring may have one.
            _ => self.push_by_cas(self.cpus as usize, event, RESERVE, None),
        }
    }

    fn push_by_rseq(&self, area: Area, event: Event) -> rseq::Pushed {
        let (rings, cpus) = (self.heads.as_ptr(), self.cpus);
        // SAFETY: the area is this process's; the heads and their buffers live in `self`; only this and
        // `extend` push to the CPUs' rings, since the protocol never changes; the first word is an
        // event's and never 0.
        unsafe { rseq::push(area, rings, cpus, event.thread, event.words, event.floor) }
    }

    /// With the thread's clock, it may share the thread's last reading.
    fn push_by_cas(
        &self,
        number: usize,
        event: Event,
        reserve: u64,
        clock: Option<&ThreadClock>,
    ) -> Pushed {
        let (Some(head), Some(buffer)) = (self.heads.get(number), self.buffer(number)) else {
            return Pushed::Full;
        };
        let clock =
            clock.filter(|_| self.may_share(event.thread) && event.thread < reading::NOBODY);
        let shared = clock.filter(|_| event.floor == 0).and_then(|c| c.shared_by_cas(number));
        let begun = clock.map(ThreadClock::begin);
        let room = head.room.load(Ordering::Relaxed) + reserve;
        let pushed = cas::push(head, buffer, room, || self.now(), shared, event);
        let Some(cas::Commit { used, head, ticks, is_fresh }) = pushed else { return Pushed::Full };
        let owner = if clock.is_some() { event.thread } else { reading::NOBODY };
        let reading = Reading::new(ticks, owner);
        if let (Some(clock), Some(begun)) = (clock, begun) {
            clock.follow_by_cas(
                &begun,
                Last { ring: number as u64, head, ticks, is_fresh },
                reading,
            );
        }
        Pushed::Done { used, reading }
    }

    /// Whether events of `thread` may share readings at this time. Those of thread 0 may be several
    /// threads'.
    fn may_share(&self, thread: u32) -> bool {
        thread != 0 && self.shares_readings.load(Ordering::Relaxed)
    }

    /// Whether readings may be shared.
    pub(crate) fn shares_readings(&self) -> bool {
        self.shares_readings.load(Ordering::Relaxed)
    }

    /// From now on readings may be shared, or may not.
    pub(crate) fn share_readings(&self, shares: bool) {
        self.shares_readings.store(shares, Ordering::Relaxed);
    }

    /// Counts an event that was dropped on the CPU this runs on, or one just left.
    #[cold]
    pub fn note_drop(&self) {
        let ring = cpu::current().min(self.cpus as usize);
        if let Some(head) = self.heads.get(ring) {
            head.tail.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many events were dropped, by ring.
    pub fn dropped(&self) -> impl Iterator<Item = u64> + Clone {
        self.heads.iter().map(|head| head.tail.dropped.load(Ordering::Relaxed))
    }

    fn buffer(&self, ring: usize) -> Option<&[AtomicU64]> {
        let start = ring * CAPACITY as usize;
        self.words.get(start..start + CAPACITY as usize)
    }

    fn now(&self) -> u64 {
        if self.ticks_are_time { clock::ticks() } else { clock::monotonic_ns() }
    }

    /// Whether `ring` is pushed to by compare-and-swap, and may have holes.
    pub fn is_cas(&self, ring: usize) -> bool {
        matches!(self.protocol, Protocol::Cas) || ring == self.cpus as usize
    }

    /// Makes all readings too old to be shared.
    pub fn beat(&self) {
        for (ring, head) in self.heads.iter().enumerate() {
            if self.is_cas(ring) {
                cas::seal(head);
            } else {
                let beat = &head.tail.beat;
                beat.store(beat.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
            }
        }
    }

    /// A moment, in ticks, such that every event before it is now in a ring, or will never be.
    ///
    /// A push under way may have read an earlier time, or be about to share one: it is made to begin
    /// again, and to read the clock. An event that has its place in a ring by compare-and-swap, but not
    /// its words yet, stands there as a hole.
    pub fn horizon(&self) -> u64 {
        let now = self.now();
        self.beat();
        if let Protocol::Rseq(_) = self.protocol {
            barrier::process_and_rseq();
        }
        now
    }

    /// How many words of `ring` come after the first `taken` ever pushed, holes included.
    pub fn available(&self, ring: usize, taken: u64) -> u64 {
        let Some(head) = self.heads.get(ring) else { return 0 };
        // Acquire: the words below the head were written before it.
        live::available(head.head.load(Ordering::Acquire), taken, self.is_cas(ring))
    }

    /// The `index`th word ever pushed onto `ring`; 0 is a hole.
    #[inline]
    pub fn word(&self, ring: usize, index: u64) -> u64 {
        let at = ring * CAPACITY as usize + (index & (CAPACITY - 1)) as usize;
        // Acquire: the first word of a record pushed by compare-and-swap publishes the others.
        self.words.get(at).map_or(0, |word| word.load(Ordering::Acquire))
    }

    /// How many words of `ring` in a row, from the one at `from` on and before `to`, are events of objects.
    #[inline]
    pub(crate) fn objects(&self, ring: usize, from: u64, to: u64) -> u64 {
        let at = ring * CAPACITY as usize + (from & (CAPACITY - 1)) as usize;
        let len = to.saturating_sub(from).min(CAPACITY - (from & (CAPACITY - 1))) as usize;
        let words = self.words.get(at..at + len).unwrap_or_default();
        // Acquire: as in `word`.
        let is_object = |word: &&AtomicU64| word::is_object(word.load(Ordering::Acquire));
        words.iter().take_while(is_object).count() as u64
    }

    /// How many events stand in the rings, those that the drainer is taking included.
    pub(crate) fn events_left(&self) -> u64 {
        let of_ring = |(ring, head): (usize, &RingHead)| {
            let tail = head.tail.words.load(Ordering::Relaxed);
            let tail = if self.is_cas(ring) { tail >> cas::EPOCH_BITS } else { tail };
            let words = tail..tail + self.available(ring, tail);
            let is_event = |&index: &u64| {
                matches!(word::decode(self.word(ring, index)), word::Word::Event { .. })
            };
            words.filter(is_event).count() as u64
        };
        self.heads.iter().enumerate().map(of_ring).sum()
    }

    /// Gives the words from `from` to `to` of `ring` back to those who push.
    pub fn release(&self, ring: usize, from: u64, to: u64) {
        let (Some(head), Some(buffer)) = (self.heads.get(ring), self.buffer(ring)) else { return };
        let words = if self.is_cas(ring) {
            // A word not yet written must read as a hole the next time round.
            for index in from..to {
                if let Some(word) = buffer.get((index & (CAPACITY - 1)) as usize) {
                    word.store(0, Ordering::Relaxed);
                }
            }
            to << cas::EPOCH_BITS
        } else {
            u64::from(to as u32)
        };
        // Release: whoever pushes over these words sees them read, and holes made.
        head.tail.words.store(words, Ordering::Release);
    }
}

#[cfg(test)]
mod tests;
