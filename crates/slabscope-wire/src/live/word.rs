//! The words in a ring.
//!
//! Every word names its own kind in its low four bits, and no word is zero. So a reader of a ring
//! that a killed program left behind can tell a hole from a record, and the middle of a record
//! from its beginning.
//!
//! A record is a time, then one or two words of an event. Where the thread differs from the one
//! that pushed before, a run word comes first; where thread and time are the same as before, the event
//! stands alone. In rings by compare-and-swap every record has all three.

use crate::alloc_free::EventKind;

/// What a word holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Nothing was committed here.
    Hole,
    /// The events that follow are of this thread.
    Run(u32),
    /// The events that follow, up to the next run or time, happened at this time, in ticks.
    Time(u64),
    /// An event; some kinds take the argument word after it as well.
    Event {
        /// Which event.
        kind: EventKind,
        /// The id of an object or span; for stacks the order.
        id: u64,
        /// The site of an object.
        site: u32,
    },
    /// The second word of an event.
    Argument(u64),
    /// Not a word of ours.
    Unknown,
}

const KIND_BITS: u32 = 4;
const RUN: u64 = 1;
const TIME: u64 = 2;
const EVENT_FIRST: u64 = 3;
const ARGUMENT: u64 = 12;

const SITE_SHIFT: u32 = KIND_BITS;
const ID_SHIFT: u32 = 28;

/// Sites that fit an event word.
pub const SITE_MAX: u32 = (1 << (ID_SHIFT - SITE_SHIFT)) - 1;

/// Threads that we tell apart at most; a run word and the head of a ring have room for more.
pub const THREAD_MAX: u32 = (1 << 24) - 1;

/// The word before the events of `thread`.
#[inline]
pub const fn run(thread: u32) -> u64 {
    (thread as u64) << KIND_BITS | RUN
}

/// The word before an event at `ticks`, which has 60 bits: 14 years at 2.6 GHz.
#[inline]
pub const fn time(ticks: u64) -> u64 {
    ticks << KIND_BITS | TIME
}

/// The first word of an event. `id` has 36 bits: 512 GiB of objects.
#[inline]
pub const fn event(kind: EventKind, id: u64, site: u32) -> u64 {
    id << ID_SHIFT | (site as u64) << SITE_SHIFT | (EVENT_FIRST + kind as u64)
}

/// The second word of an event; `value` has 60 bits.
#[inline]
pub const fn argument(value: u64) -> u64 {
    value << KIND_BITS | ARGUMENT
}

/// A span's size and class as one argument.
#[inline]
pub const fn span_argument(pages: u64, kindclass: u64) -> u64 {
    pages << 10 | kindclass
}

/// Pages and kindclass of a [`span_argument`].
#[inline]
pub const fn split_span_argument(value: u64) -> (u64, u64) {
    (value >> 10, value & 0x3ff)
}

/// The arguments of an event as the format has them, and how many count.
#[inline]
pub const fn arguments(kind: EventKind, id: u64, site: u32, argument: u64) -> ([u64; 3], usize) {
    match kind {
        EventKind::Span | EventKind::SpanAlloc => {
            let (pages, kindclass) = split_span_argument(argument);
            ([id, pages, kindclass], 3)
        }
        EventKind::Object | EventKind::ObjectAlloc => ([id, site as u64, 0], 2),
        EventKind::SpanFree | EventKind::ObjectFree => ([id, 0, 0], 1),
        EventKind::Stack | EventKind::StackAlloc => ([argument, id, 0], 2),
        EventKind::StackFree => ([argument, 0, 0], 1),
    }
}

/// What `word` holds.
#[inline]
pub fn decode(word: u64) -> Word {
    let kind = word & 0xf;
    if let Some(event) = kind.checked_sub(EVENT_FIRST).and_then(EventKind::new) {
        let site = (word >> SITE_SHIFT) as u32 & SITE_MAX;
        return Word::Event { kind: event, id: word >> ID_SHIFT, site };
    }
    match kind {
        RUN => Word::Run((word >> KIND_BITS) as u32 & THREAD_MAX),
        TIME => Word::Time(word >> KIND_BITS),
        ARGUMENT => Word::Argument(word >> KIND_BITS),
        _ if word == 0 => Word::Hole,
        _ => Word::Unknown,
    }
}

/// Whether `word` is the event of an object, as nearly all are: the only word of it.
#[inline]
pub fn is_object(word: u64) -> bool {
    const FIRST: u64 = EVENT_FIRST + EventKind::Object as u64;
    const LAST: u64 = EVENT_FIRST + EventKind::ObjectFree as u64;
    (FIRST..=LAST).contains(&(word & 0xf))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc_free::EventKind::{Object, ObjectAlloc, ObjectFree};
    use crate::alloc_free::KINDS;

    #[test]
    fn words_survive_a_round_trip_and_none_is_zero() {
        let mut visited = 0;
        for kind in KINDS {
            let word = event(kind, (1 << 36) - 1, SITE_MAX);
            assert_eq!(decode(word), Word::Event { kind, id: (1 << 36) - 1, site: SITE_MAX });
            assert_ne!(event(kind, 0, 0), 0);
            let is_object = matches!(kind, Object | ObjectAlloc | ObjectFree);
            assert_eq!(super::is_object(word), is_object);
            visited += 1;
        }
        assert_eq!(visited, 9);
        assert_eq!(decode(run(THREAD_MAX)), Word::Run(THREAD_MAX));
        assert_eq!(decode(time((1 << 60) - 1)), Word::Time((1 << 60) - 1));
        assert_eq!(decode(argument(7)), Word::Argument(7));
        assert_eq!(decode(0), Word::Hole);
        assert!(![run(1), time(1), argument(1), 0, 13].into_iter().any(super::is_object));
        assert_eq!(decode(13), Word::Unknown);
        assert_eq!(split_span_argument(span_argument(1 << 40, 271)), (1 << 40, 271));
    }
}
