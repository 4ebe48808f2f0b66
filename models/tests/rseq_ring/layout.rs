//! Where things lie in the machine's memory.

use std::mem::{offset_of, size_of};

use slabscope_os::rseq::{Commit, RingHead, Streak, Tail};

/// Rings that belong to a CPU; there is one CPU more.
pub(crate) const RINGS: usize = 2;
/// The most words a ring has here.
pub(crate) const WORDS_MAX: u64 = 16;

const FIRST: u64 = 0x7f00_0000_0000;
pub(crate) const HEADS: u64 = FIRST;
const BUFFERS: u64 = HEADS + (RINGS * size_of::<RingHead>()) as u64;
const THREADS: u64 = BUFFERS + RINGS as u64 * WORDS_MAX * 8;
const THREAD: u64 = 2048;

/// From a thread pointer to the area of restartable sequences, as the C library would say.
pub(crate) const AREA: u64 = 32;
/// In the area: the CPU, and the descriptor of the section that is announced.
pub(crate) const CPU: u64 = 4;
pub(crate) const ANNOUNCED: u64 = 8;

/// All of it, in words.
pub(crate) const MEMORY: usize = ((THREADS - FIRST + 2 * THREAD) / 8) as usize;

/// A returning function jumps here.
pub(crate) const RETURN: u64 = 0x1000;

const _: () = assert!(size_of::<Streak>() <= 64 && size_of::<Commit>() <= 64);

/// The word of memory that holds this address.
pub(crate) fn word_of(address: u64) -> Option<usize> {
    let at = usize::try_from(address.checked_sub(FIRST)? / 8).ok()?;
    (at < MEMORY).then_some(at)
}

pub(crate) fn head(ring: usize) -> u64 {
    HEADS + (ring * size_of::<RingHead>()) as u64
}

pub(crate) fn released(ring: usize) -> u64 {
    head(ring) + (offset_of!(RingHead, tail) + offset_of!(Tail, words)) as u64
}

pub(crate) fn beat(ring: usize) -> u64 {
    head(ring) + (offset_of!(RingHead, tail) + offset_of!(Tail, beat)) as u64
}

pub(crate) fn buffer(ring: usize) -> u64 {
    BUFFERS + ring as u64 * WORDS_MAX * 8
}

/// Whether it is a ring's, head or words.
pub(crate) fn is_of_rings(address: u64) -> bool {
    (HEADS..THREADS).contains(&address)
}

/// A thread's own memory. Its pointer points to the first word, which names the area's distance.
pub(crate) fn thread(number: usize) -> u64 {
    THREADS + number as u64 * THREAD
}

pub(crate) fn area(thread: usize) -> u64 {
    self::thread(thread) + AREA
}

pub(crate) fn streak(thread: usize) -> u64 {
    self::thread(thread) + 64
}

/// What a push is told; its signal handler's lies apart.
pub(crate) fn event(thread: usize, in_handler: bool) -> u64 {
    self::thread(thread) + if in_handler { 256 } else { 128 }
}

/// Where a push writes what it did.
pub(crate) fn commit(thread: usize, in_handler: bool) -> u64 {
    event(thread, in_handler) + 32
}

/// Above the last word of the stack.
pub(crate) fn stack(thread: usize) -> u64 {
    self::thread(thread) + THREAD
}

/// Whether it is the thread's to write at any time: its stack, and what it was told to write to.
pub(crate) fn is_own(thread: usize, address: u64) -> bool {
    (self::thread(thread)..stack(thread)).contains(&address)
}
