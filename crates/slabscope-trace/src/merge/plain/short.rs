//! Plain events of one or two arguments that are at most nine bytes long: nearly all.
//!
//! Their numbers are not read one after the other. Eight bytes are taken as one word: a table says
//! from the top bits, which end numbers, where all of them lie, and the other bits are put side by
//! side at once.

use super::Plain;
use crate::catalog::Catalog;
use crate::cursor::{Decoding, Place, gather};
use crate::id::Time;

/// Decodes events from `place` in `payload` on, into `out`, until one is not short or `out` is
/// full. Returns how many, and where the last one stands; `place` moves behind it.
#[inline]
pub(in crate::merge) fn decode_short(
    payload: &[u8],
    place: &mut Place,
    decoding: Decoding,
    lane: u16,
    out: &mut [Plain],
) -> (usize, Place) {
    // Away from these ends no time wraps, and none is 0, which has a meaning of its own.
    if !(1..i64::MAX / 2).contains(&place.time.0) {
        return (0, *place);
    }
    let Decoding { clock, catalog } = decoding;
    if clock.is_nanoseconds() {
        decode(payload, place, |ticks| u32::try_from(ticks).ok(), catalog, lane, out)
    } else {
        decode(payload, place, |ticks| u32::try_from(clock.time(ticks).0).ok(), catalog, lane, out)
    }
}

#[inline]
fn decode(
    payload: &[u8],
    place: &mut Place,
    nanoseconds: impl Fn(u64) -> Option<u32>,
    catalog: &Catalog,
    lane: u16,
    out: &mut [Plain],
) -> (usize, Place) {
    let mut rest = payload.get(place.at..).unwrap_or_default();
    let begun = rest.len();
    let (mut time, mut last, mut count) = (place.time, *place, 0);
    for slot in out {
        let Some((id, word)) = rest
            .split_first()
            .and_then(|(&id, rest)| Some((id, u64::from_le_bytes(*rest.first_chunk::<8>()?))))
        else {
            break;
        };
        let layout = layout(catalog.short_arg_count(id), word);
        let bits = gather(word);
        let (Some(since), Some(next)) =
            (nanoseconds(layout.number(0, bits)), rest.get(layout.len()..))
        else {
            break;
        };
        if layout.len() == 0 {
            break;
        }
        let args = [layout.number(1, bits), layout.number(2, bits)];
        last = Place { at: place.at + begun - rest.len(), time, ..last };
        time = Time(time.0 + i64::from(since));
        *slot = Plain { time, args, third: 0, lane, id, class: 0 };
        rest = next;
        count += 1;
    }
    place.at += begun - rest.len();
    place.time = time;
    (count, last)
}

/// Where the numbers of a short event lie among the bits of all of them, and how long it is.
///
/// Two bytes for each of three numbers, which are the shifts that leave it alone, and then the
/// length in bytes, which is 0 where the event is not a short one.
#[derive(Clone, Copy)]
struct Layout(u64);

impl Layout {
    const NOT_SHORT: Layout = Layout(0);

    #[inline]
    fn number(self, index: u32, bits: u64) -> u64 {
        let shifts = self.0 >> (16 * index);
        (bits << (shifts & 63)) >> (shifts >> 8 & 63)
    }

    #[inline]
    fn len(self) -> usize {
        (self.0 >> 48) as usize
    }
}

/// The layout of an event of so many arguments whose numbers begin with the bytes of `word`.
#[inline]
fn layout(args: u8, word: u64) -> Layout {
    // Bit 8 i becomes bit 56 + i.
    let ends = (!word >> 7 & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    LAYOUTS[usize::from(args)][ends as usize & 0xff]
}

/// Short events have one or two arguments; the first row is for others.
const ROWS: usize = 3;

/// By how many arguments there are, and by which of eight bytes end a number.
static LAYOUTS: [[Layout; 256]; ROWS] = {
    let mut layouts = [[Layout::NOT_SHORT; 256]; ROWS];
    let mut args = 1;
    while args < layouts.len() {
        let mut ends = 0;
        while ends < 256 {
            layouts[args][ends] = layout_of(args, ends as u8);
            ends += 1;
        }
        args += 1;
    }
    layouts
};

const fn layout_of(args: usize, mut ends: u8) -> Layout {
    // One that is not there is 0, as bit 56 and those above it are.
    let (mut layout, mut number, mut start) = (63 << 40, 0, 0);
    while number <= args {
        if ends == 0 {
            return Layout::NOT_SHORT;
        }
        let end = ends.trailing_zeros() as u64 + 1;
        let left = 64 - 7 * end;
        let shifts = left | (left + 7 * start) << 8;
        layout = layout & !(0xffff << (16 * number)) | shifts << (16 * number);
        ends &= ends - 1;
        start = end;
        number += 1;
    }
    Layout(layout | (1 + start) << 48)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;
    use slabscope_wire::event::id;
    use slabscope_wire::varint;

    use super::*;
    use crate::catalog::STANDARD;
    use crate::clock::Clock;
    use crate::cursor::Cursor;
    use crate::generation::{Piece, ThreadBatches};
    use crate::id::ThreadId;
    use crate::input::Block;

    /// A number whose encoding may be longer than it must.
    fn number() -> impl Strategy<Value = Vec<u8>> {
        let value = (any::<u64>(), 0..64_u32).prop_map(|(value, shift)| value >> shift);
        (value, 0..3_usize).prop_map(|(value, padding)| {
            let (bytes, len) = varint::encode(value);
            let mut bytes = bytes[..len].to_vec();
            if len + padding <= 9 && padding > 0 {
                bytes[len - 1] |= 0x80;
                bytes.extend(vec![0x80; padding - 1]);
                bytes.push(0);
            }
            bytes
        })
    }

    fn events() -> impl Strategy<Value = Vec<u8>> {
        let kinds = vec![
            (id::HEAP_OBJECT_ALLOC, 2),
            (id::HEAP_OBJECT_FREE, 1),
            (id::SPAN_ALLOC, 3),
            (id::HEAP_ALLOC, 1),
        ];
        let event = (select(kinds), vec(number(), 4))
            .prop_map(|((id, args), numbers)| [vec![id], numbers[..=args].concat()].concat());
        vec(event, 0..40).prop_map(|events| events.concat())
    }

    proptest! {
        #[test]
        fn short_events_are_read_as_the_slow_way_reads_them(
            payload in events(),
            frequency in select(vec![1_000_000_000, 15_625_000, 3_000_000_000_u64]),
            start in 1..1_000_000_u64,
        ) {
            let clock = Clock::from_frequency(frequency);
            let decoding = Decoding { clock, catalog: &STANDARD };
            let pieces = vec![Piece { time: start, at: 0, len: payload.len() }];
            let (thread, block) = (ThreadId(1), Block::Whole(&payload));
            let batches = ThreadBatches { thread, block, start: 0, pieces };
            let mut cursor = Cursor::new(ThreadId(1));
            let mut place = Place { time: clock.time(start), ..cursor.place() };
            let mut out = [Plain::NOTHING; 40];
            let (count, last) = decode_short(&payload, &mut place, decoding, 7, &mut out);
            for (index, plain) in out.iter().take(count).enumerate() {
                if index + 1 == count {
                    prop_assert_eq!(cursor.place().at, last.at);
                }
                prop_assert_eq!(cursor.advance(&batches, decoding), Ok(true));
                prop_assert_eq!(Plain::new(&cursor.event, 7, &STANDARD), Some(*plain));
            }
            if count > 0 {
                prop_assert_eq!(cursor.place().at, place.at);
                prop_assert_eq!(cursor.place().time, place.time);
            }
        }
    }
}
