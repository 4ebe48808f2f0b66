//! Pushing by compare-and-swap, where restartable sequences are missing.
//!
//! A thread takes room by advancing the head, then writes its words, the first one last. Free
//! words are 0, so room that is taken and not yet written shows as a hole. The head carries an
//! epoch beside the count: when the drainer changes it, every push under way fails its exchange and
//! reads the clock again, which gives the drainer its horizon.

use core::sync::atomic::{AtomicU64, Ordering};

use slabscope_os::rseq::{Pushed, RingHead};

use slabscope_wire::live::word;

/// The epoch's share of the head: `[words : 48 | epoch : 16]`.
pub(super) use slabscope_wire::live::EPOCH_BITS;

const EPOCH_MASK: u64 = (1 << EPOCH_BITS) - 1;

/// The words in a head.
pub(super) fn words(head: u64) -> u64 {
    head >> EPOCH_BITS
}

/// Pushes run, time and event, unless more than `room` words are in use; each record says its thread, since the head has no room for it.
pub(super) fn push(
    ring: &RingHead,
    buffer: &[AtomicU64],
    room: u64,
    now: impl Fn() -> u64,
    thread: u32,
    first: u64,
    second: u64,
) -> Pushed {
    let count = if second == 0 { 3 } else { 4 };
    // Acquire: the time is read after this, so it is later than that of every record below.
    let mut head = ring.head.load(Ordering::Acquire);
    loop {
        // Acquire pairs with the release in `Rings::release`: these words are read and zeroed.
        let used = words(head.wrapping_sub(ring.tail.words.load(Ordering::Acquire)));
        if used > room {
            return Pushed::Full;
        }
        let time = word::time(now());
        let next = head.wrapping_add(count << EPOCH_BITS);
        // Acquire as above; release so that the next to push reads a later time.
        match ring.head.compare_exchange(head, next, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                let mut index = words(head);
                let start = index;
                for word in [time, first, second].into_iter().filter(|&word| word != 0) {
                    index += 1;
                    store(buffer, index, word, Ordering::Relaxed);
                }
                // Release publishes the words above with this one.
                store(buffer, start, word::run(thread), Ordering::Release);
                return Pushed::Done(used);
            }
            Err(found) => head = found,
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
