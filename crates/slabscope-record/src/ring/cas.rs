//! Pushing by compare-and-swap, where restartable sequences are missing.
//!
//! A thread takes room by advancing the head, then writes its words, the first one last. Free
//! words are 0, so room that is taken and not yet written shows as a hole. The head carries an
//! epoch beside the count: when the drainer changes it, every push under way fails its exchange and
//! reads the clock again, which gives the drainer its horizon.

use slabscope_wire::live::word;

use super::Event;
use super::parts::{AtomicU64, Ordering, RingHead};

/// The epoch's share of the head: `[words : 40 | epoch : 24]`.
pub(super) use slabscope_wire::live::EPOCH_BITS;

const EPOCH_MASK: u64 = (1 << EPOCH_BITS) - 1;

/// The words in a head.
pub(super) fn words(head: u64) -> u64 {
    head >> EPOCH_BITS
}

/// A push that was committed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Commit {
    /// Words in the ring before.
    pub(super) used: u64,
    /// The head after it.
    pub(super) head: u64,
    pub(super) ticks: u64,
    /// Whether the clock was read for it.
    pub(super) is_fresh: bool,
}

/// Pushes run, time and event, unless more than `room` words are in use; each record says its thread,
/// since the head has no room for it. If the head is the first of `shared`, nobody pushed since the
/// ticks that are the second were read, and they will do.
pub(super) fn push(
    ring: &RingHead,
    buffer: &[AtomicU64],
    room: u64,
    now: impl Fn() -> u64,
    shared: Option<(u64, u64)>,
    event: Event,
) -> Option<Commit> {
    let [first, second] = event.words;
    let count = if second == 0 { 3 } else { 4 };
    // Acquire: the time is read after this, so it is later than that of every record below.
    let mut head = ring.head.load(Ordering::Acquire);
    loop {
        // Acquire pairs with the release in `Rings::release`: these words are read and zeroed.
        let used = words(head.wrapping_sub(ring.tail.words.load(Ordering::Acquire)));
        if used > room {
            return None;
        }
        let found = shared.filter(|&(expected, _)| expected == head).map(|(_, ticks)| ticks);
        let ticks = found.unwrap_or_else(|| read(&now, event.floor));
        let next = head.wrapping_add(count << EPOCH_BITS);
        // Acquire as above; release so that the next to push reads a later time.
        match ring.head.compare_exchange(head, next, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                let mut index = words(head);
                let start = index;
                for word in [word::time(ticks), first, second].into_iter().filter(|&word| word != 0)
                {
                    index += 1;
                    store(buffer, index, word, Ordering::Relaxed);
                }
                // Release publishes the words above with this one.
                store(buffer, start, word::run(event.thread), Ordering::Release);
                return Some(Commit { used, head: next, ticks, is_fresh: found.is_none() });
            }
            Err(found) => head = found,
        }
    }
}

/// Reads the clock until it shows `floor` or more.
fn read(now: &impl Fn() -> u64, floor: u64) -> u64 {
    loop {
        let ticks = now();
        if ticks >= floor {
            return ticks;
        }
    }
}

fn store(buffer: &[AtomicU64], index: u64, word: u64, order: Ordering) {
    let mask = buffer.len() as u64 - 1;
    if let Some(slot) = buffer.get((index & mask) as usize) {
        slot.store(word, order);
    }
}

/// Makes every push under way read the clock again.
pub(super) fn seal(ring: &RingHead) {
    let epoch = |head: u64| (head & !EPOCH_MASK) | (head.wrapping_add(1) & EPOCH_MASK);
    // Acquire and release: pushes before and after it are ordered by it. It never fails.
    let _ = ring.head.fetch_update(Ordering::AcqRel, Ordering::Acquire, |head| Some(epoch(head)));
}
