//! The threads of one trace, by a number of ours: kernel ids are used again, these are not.

use core::sync::atomic::{AtomicU64, Ordering};

use slabscope_os::thread::NAME_LEN;
use slabscope_wire::live::thread;

use crate::mapped::{Mapped, Zeroed};

/// Threads a trace can tell apart; those beyond are recorded as thread 0.
pub(crate) const THREADS: usize = 1 << 20;

const _: () = assert!(THREADS as u64 <= slabscope_wire::live::word::THREAD_MAX as u64);

/// One thread. Its owner writes, the drainer reads.
///
/// Relaxed throughout: the drainer meets a number only in a ring, whose commit orders what was
/// written before it; the bytes are a live figure.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct ThreadEntry {
    /// Kernel thread id.
    pub id: AtomicU64,
    /// Monotonic nanoseconds of its first event.
    pub start_ns: AtomicU64,
    /// Monotonic nanoseconds of its end; 0 while it runs.
    pub end_ns: AtomicU64,
    /// Name, as two words.
    pub name: [AtomicU64; NAME_LEN / 8],
    /// The drainer's own note: the last generation that had an event of it.
    pub(crate) generation: AtomicU64,
    /// Bytes of slots it took less those it gave back, which may be more: it wraps around.
    pub(crate) live: AtomicU64,
}

const _: () = assert!(core::mem::offset_of!(ThreadEntry, id) == 8 * thread::ID);
const _: () = assert!(core::mem::offset_of!(ThreadEntry, start_ns) == 8 * thread::START);
const _: () = assert!(core::mem::offset_of!(ThreadEntry, end_ns) == 8 * thread::END);
const _: () = assert!(core::mem::offset_of!(ThreadEntry, name) == 8 * thread::NAME);
const _: () = assert!(core::mem::offset_of!(ThreadEntry, generation) == 8 * thread::GENERATION);

// SAFETY: made of atomics, for which zero is valid.
unsafe impl Zeroed for ThreadEntry {}

/// All of them. Number 0 is for events that no entry could be made for. Its kernel id is 0, which no thread
/// has: a trace names threads by their ids, and the events of one must stand in the order of their times.
#[derive(Debug)]
pub struct ThreadTable {
    entries: Mapped<ThreadEntry>,
    /// Numbers given out so far, number 0 included. Relaxed: it only hands out numbers.
    next: Mapped<AtomicU64>,
}

impl ThreadTable {
    /// A table with thread 0 only, in this memory: entries, and a word for how many there are.
    pub(crate) fn new(entries: Mapped<ThreadEntry>, count: Mapped<AtomicU64>) -> Self {
        let table = ThreadTable { entries, next: count };
        if let Some(next) = table.next.first() {
            next.store(1, Ordering::Relaxed);
        }
        table.get(0).set_name(*b"unknown\0\0\0\0\0\0\0\0\0");
        table
    }

    /// Enters a thread; returns its number. 0 when the table is full, or `back` says that the
    /// number's entry has no memory.
    pub(crate) fn enter(
        &self,
        id: u64,
        name: [u8; NAME_LEN],
        start_ns: u64,
        back: impl Fn(usize) -> bool,
    ) -> u32 {
        let Some(next) = self.next.first() else { return 0 };
        let taken = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| {
            ((next as usize) < THREADS.min(self.entries.len())).then_some(next + 1)
        });
        let number = match taken {
            Ok(number) if back(number as usize) => number as u32,
            _ => return 0,
        };
        let entry = self.get(number);
        entry.id.store(id, Ordering::Relaxed);
        entry.start_ns.store(start_ns, Ordering::Relaxed);
        entry.set_name(name);
        number
    }

    /// The thread with this number; thread 0 for a number never given out.
    #[inline]
    pub fn get(&self, number: u32) -> &ThreadEntry {
        match self.entries.get(number as usize) {
            Some(entry) => entry,
            // The table is never empty, so this is its first entry.
            None => {
                self.entries.first().unwrap_or_else(|| slabscope_os::fatal(&["no thread table"]))
            }
        }
    }

    /// All threads entered so far, thread 0 first.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &ThreadEntry)> {
        let count = self.next.first().map_or(0, |next| next.load(Ordering::Relaxed)) as usize;
        (0_u32..).zip(self.entries.iter().take(count))
    }
}

impl ThreadEntry {
    /// Notes the thread's name.
    pub fn set_name(&self, name: [u8; NAME_LEN]) {
        for (word, bytes) in self.name.iter().zip(name.as_chunks::<8>().0) {
            word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
        }
    }

    /// The thread's name, padded with NULs.
    pub fn name(&self) -> [u8; NAME_LEN] {
        let mut name = [0; NAME_LEN];
        for (word, bytes) in self.name.iter().zip(name.as_chunks_mut::<8>().0) {
            *bytes = word.load(Ordering::Relaxed).to_ne_bytes();
        }
        name
    }

    /// Notes that the thread ends now, and the name it had at last.
    pub fn leave(&self, name: [u8; NAME_LEN], end_ns: u64) {
        self.set_name(name);
        self.end_ns.store(end_ns, Ordering::Relaxed);
    }
}

/// Adds to a counter that only the calling thread writes.
#[inline]
pub(crate) fn add_own(counter: &AtomicU64, n: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
}
