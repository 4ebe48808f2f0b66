//! One ring of words for each CPU: many threads push, the drainer takes.
//!
//! Two protocols, chosen when a trace begins: where the C library has registered restartable
//! sequences, a push commits by one plain store ([`slabscope_os::rseq`]); elsewhere by
//! compare-and-swap (`cas`). One ring more, always of the second kind, takes the events of
//! threads that have no CPU number: those the C library does not know, and those on a CPU that was
//! added after the start.
//!
//! What the drainer relies on: the times in one ring rise; a thread's events in one ring are in its
//! order; and after [`Rings::horizon`] no event older than the moment it returns can still appear.

mod cas;

use core::sync::atomic::{AtomicU64, Ordering};

use slabscope_os::rseq::{self, Area, RingHead};
use slabscope_os::{barrier, clock, cpu};

pub use slabscope_os::rseq::Pushed;

use crate::mapped::Mapped;

/// Words of a ring: 1 MiB.
pub const CAPACITY: u64 = 1 << 17;

const _: () = assert!(rseq::THREAD_BITS == slabscope_wire::live::THREAD_BITS);
const _: () = assert!(size_of::<RingHead>() == slabscope_wire::live::HEAD_SIZE);

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
}

impl Rings {
    /// How many rings the machine needs: one for each CPU, and the stray one.
    pub fn count_needed() -> usize {
        cpu::count() + 1
    }

    /// Empty rings in this zeroed memory: [`Rings::count_needed`] heads, and [`CAPACITY`] words for
    /// each.
    ///
    /// With `force_cas` the plain protocol is not used even where it could be.
    pub fn new(heads: Mapped<RingHead>, words: Mapped<AtomicU64>, force_cas: bool) -> Self {
        barrier::prepare();
        let ticks_are_time = clock::ticks_are_time();
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
        Rings { heads, words, protocol, cpus, ticks_are_time }
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

    /// Pushes an event of `thread` onto the ring of the CPU this runs on; `second` is 0 for events
    /// of one word.
    #[inline]
    pub fn push(&self, thread: u32, first: u64, second: u64) -> Pushed {
        if let Protocol::Rseq(area) = self.protocol {
            // SAFETY: the area is this process's; the heads and their buffers live in `self`; only
            // this line pushes to the CPUs' rings, since the protocol never changes; `first` is an
            // event word and never 0; thread numbers are below THREAD_MAX.
            let pushed = unsafe {
                rseq::push(area, self.heads.as_ptr(), self.cpus, u64::from(thread), first, second)
            };
            if pushed != Pushed::NoCpu {
                return pushed;
            }
            return self.push_by_cas(self.cpus as usize, thread, first, second, 0);
        }
        self.push_by_cas(cpu::current() % self.cpus as usize, thread, first, second, 0)
    }

    /// As [`Rings::push`], for an operation that may have interrupted a push.
    pub fn push_reentrant(&self, thread: u32, first: u64, second: u64) -> Pushed {
        match self.push(thread, first, second) {
            Pushed::Full if matches!(self.protocol, Protocol::Cas) => {
                let ring = cpu::current() % self.cpus as usize;
                self.push_by_cas(ring, thread, first, second, RESERVE)
            }
            // A push by a restartable sequence leaves no hole; only the stray ring may have one.
            Pushed::Full => self.push_by_cas(self.cpus as usize, thread, first, second, RESERVE),
            pushed => pushed,
        }
    }

    fn push_by_cas(
        &self,
        ring: usize,
        thread: u32,
        first: u64,
        second: u64,
        reserve: u64,
    ) -> Pushed {
        let (Some(head), Some(buffer)) = (self.heads.get(ring), self.buffer(ring)) else {
            return Pushed::NoCpu;
        };
        let room = head.room.load(Ordering::Relaxed) + reserve;
        cas::push(head, buffer, room, || self.now(), thread, first, second)
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

    /// A moment, in ticks, such that every event before it is now in a ring, or will never be.
    ///
    /// A push under way may have read an earlier time: it is made to read again. An event that has
    /// its place in a ring by compare-and-swap, but not its words yet, stands there as a hole.
    pub fn horizon(&self) -> u64 {
        let now = self.now();
        if let Protocol::Rseq(_) = self.protocol {
            barrier::process_and_rseq();
        }
        for (ring, head) in self.heads.iter().enumerate() {
            if self.is_cas(ring) {
                cas::seal(head);
            }
        }
        now
    }

    /// How many words of `ring` come after the first `taken` ever pushed, holes included.
    pub fn available(&self, ring: usize, taken: u64) -> u64 {
        let Some(head) = self.heads.get(ring) else { return 0 };
        // Acquire: the words below the head were written before it.
        let head = head.head.load(Ordering::Acquire);
        let bits = if self.is_cas(ring) { cas::EPOCH_BITS } else { rseq::THREAD_BITS };
        // Both counts, cut to the bits the head has for them.
        ((head >> bits << bits).wrapping_sub(taken << bits)) >> bits
    }

    /// The `index`th word ever pushed onto `ring`; 0 is a hole.
    #[inline]
    pub fn word(&self, ring: usize, index: u64) -> u64 {
        let at = ring * CAPACITY as usize + (index & (CAPACITY - 1)) as usize;
        // Acquire: the first word of a record pushed by compare-and-swap publishes the others.
        self.words.get(at).map_or(0, |word| word.load(Ordering::Acquire))
    }

    /// Gives the words from `from` to `to` of `ring` back to those who push.
    pub fn release(&self, ring: usize, from: u64, to: u64) {
        let (Some(head), Some(buffer)) = (self.heads.get(ring), self.buffer(ring)) else { return };
        let shift = if self.is_cas(ring) {
            // A word not yet written must read as a hole the next time round.
            for index in from..to {
                if let Some(word) = buffer.get((index & (CAPACITY - 1)) as usize) {
                    word.store(0, Ordering::Relaxed);
                }
            }
            cas::EPOCH_BITS
        } else {
            rseq::THREAD_BITS
        };
        // Release: whoever pushes over these words sees them read, and holes made.
        head.tail.words.store(to << shift, Ordering::Release);
    }
}

#[cfg(test)]
mod tests;
