//! A place in the events of one thread.

use slabscope_wire::event::ARGS_MAX;
use slabscope_wire::varint;

use crate::catalog::{Catalog, NONE};
use crate::clock::Clock;
use crate::error::ErrorKind;
use crate::generation::ThreadBatches;
use crate::id::{ThreadId, Time};

/// An event as it stands in the file, but for its time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawEvent {
    pub(crate) time: Time,
    pub(crate) args: [u64; ARGS_MAX],
    pub(crate) id: u8,
}

/// A place in the events of one thread in one generation, with the event that stands there.
#[derive(Debug)]
pub(crate) struct Cursor {
    pub(crate) thread: ThreadId,
    /// The thread's place among the states of threads, once it is known there.
    pub(crate) state: Option<usize>,
    pub(crate) event: RawEvent,
    /// Where the next event stands.
    next: Place,
    /// Where in its batch the cursor's event stands, in bytes, or one that could not be read.
    event_at: usize,
}

/// What it takes to understand the events of a generation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoding {
    pub(crate) clock: Clock,
    pub(crate) catalog: &'static Catalog,
}

/// Where a thread's next event stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Which of the thread's batches.
    pub(crate) batch: usize,
    /// Where in it, in bytes.
    pub(crate) at: usize,
    /// Time of the event before it; 0 at the start of a batch.
    pub(crate) time: Time,
}

const NOTHING: RawEvent = RawEvent { time: Time(0), args: [0; ARGS_MAX], id: 0 };

impl Cursor {
    /// A cursor before the first event of `thread`.
    pub(crate) fn new(thread: ThreadId) -> Self {
        let next = Place { batch: 0, at: 0, time: Time(0) };
        Cursor { thread, state: None, event: NOTHING, next, event_at: 0 }
    }

    /// Where the event after the cursor's stands.
    pub(crate) fn place(&self) -> Place {
        self.next
    }

    /// Stands before the event at `place`.
    pub(crate) fn go_to(&mut self, place: Place) {
        self.next = place;
    }

    /// Where in the file the cursor's event stands, or the one that could not be read.
    pub(crate) fn offset(&self, thread: &ThreadBatches<'_>) -> u64 {
        let piece = thread.pieces.get(self.next.batch);
        piece.map_or(0, |piece| thread.offset(piece) + self.event_at as u64)
    }

    /// Moves to the thread's next event; `false` when there is none.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        thread: &ThreadBatches<'_>,
        decoding: Decoding,
    ) -> Result<bool, ErrorKind> {
        let Decoding { clock, catalog } = decoding;
        let next = &mut self.next;
        let piece = loop {
            match thread.pieces.get(next.batch) {
                None => return Ok(false),
                Some(piece) if piece.len > next.at => break piece,
                Some(_) => *next = Place { batch: next.batch + 1, at: 0, time: Time(0) },
            }
        };
        // Go takes a last time of 0 for none, also where it is a time; the batch's is the same.
        if next.time == Time(0) {
            next.time = clock.time(piece.time);
        }
        self.event_at = next.at;
        let rest = thread.payload(piece).get(next.at..).unwrap_or_default();
        let (dt, len) = decode(rest, &mut self.event, catalog)?;
        self.event.time = Time(clock.time(dt).0.wrapping_add(next.time.0));
        next.time = self.event.time;
        next.at += len;
        Ok(true)
    }
}

/// Decodes the event at the start of `bytes` into `event`, but for its time; returns the time
/// since the last one, in ticks, and the event's length in bytes.
#[inline]
fn decode(
    bytes: &[u8],
    event: &mut RawEvent,
    catalog: &Catalog,
) -> Result<(u64, usize), ErrorKind> {
    let Some(&id) = bytes.first() else {
        return Err(ErrorKind::BrokenEvent(0));
    };
    let count = catalog.arg_count(id);
    if count == NONE {
        return Err(match catalog.spec(id) {
            Some(_) => ErrorKind::UntimedEvent(id),
            None => ErrorKind::UnknownEvent(id),
        });
    }
    event.id = id;
    event.args = [0; ARGS_MAX];
    let mut at = 1;
    let dt = number(bytes, &mut at).ok_or(ErrorKind::BrokenEvent(id))?;
    for arg in event.args.iter_mut().take(usize::from(count)) {
        *arg = number(bytes, &mut at).ok_or(ErrorKind::BrokenEvent(id))?;
    }
    Ok((dt, at))
}

/// The number at `at`, which moves behind it; `None` when it is cut off or too large.
#[inline]
fn number(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let rest = bytes.get(*at..)?;
    let &first = rest.first()?;
    if first < 0x80 {
        *at += 1;
        return Some(u64::from(first));
    }
    if let Some(&word) = rest.first_chunk::<8>() {
        let word = u64::from_le_bytes(word);
        // The last byte of a number is the first without its top bit.
        let ends = !word & 0x8080_8080_8080_8080;
        if ends != 0 {
            let bits = ends.trailing_zeros() + 1;
            *at += bits as usize / 8;
            return Some(gather(word & (u64::MAX >> (64 - bits))));
        }
    }
    let (number, len) = varint::decode(rest).ok()?;
    *at += len;
    Some(number)
}

/// Puts the low seven bits of each of eight bytes side by side.
#[inline]
pub(crate) fn gather(word: u64) -> u64 {
    let word = word & 0x7f7f_7f7f_7f7f_7f7f;
    let word = (word & 0x007f_007f_007f_007f) | (word & 0x7f00_7f00_7f00_7f00) >> 1;
    let word = (word & 0x0000_3fff_0000_3fff) | (word & 0x3fff_0000_3fff_0000) >> 2;
    (word & 0x0000_0000_0fff_ffff) | (word & 0x0fff_ffff_0000_0000) >> 4
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_read_as_the_format_has_them(
            value: u64, shift in 0..64_u32, tail in prop::collection::vec(any::<u8>(), 0..12),
        ) {
            let value = value >> shift;
            let (encoded, len) = varint::encode(value);
            let mut bytes = encoded[..len].to_vec();
            bytes.extend(tail);
            let mut at = 0;
            prop_assert_eq!(number(&bytes, &mut at), Some(value));
            prop_assert_eq!(at, len);
        }

        #[test]
        fn any_bytes_read_as_the_slow_way_reads_them(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0x80..=0xff_u8], 0..14),
        ) {
            let mut at = 0;
            let fast = number(&bytes, &mut at).map(|value| (value, at));
            prop_assert_eq!(fast, varint::decode(&bytes).ok());
        }
    }
}
