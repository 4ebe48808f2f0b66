//! The heap as bytes, for what is kept beside a trace: spans by address, and what lies in them.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::slots::DENSE_MAX;
use super::{Heap, STACK_ORDER_MAX, Span, Units};
use crate::numbers::{Reading, write};

/// Reads and writes what is known of an object.
pub(crate) trait KeptTag: Copy {
    /// Appends it to `out`; `last` is the one before.
    fn write(self, last: Self, out: &mut Vec<u8>);
    /// Reads it.
    fn read(last: Self, from: &mut Reading<'_>) -> Option<Self>;
    /// What comes before the first one.
    const FIRST: Self;
}

impl<T: KeptTag> Heap<T> {
    /// The heap as bytes.
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.units.sizes().into_iter().for_each(|size| write(size, &mut out));
        write(u64::from(self.shares_slots), &mut out);
        let mut views: Vec<_> = self.spans().collect();
        views.sort_unstable_by_key(|view| view.span.start);
        write(views.len() as u64, &mut out);
        let (mut end, mut last) = (0, T::FIRST);
        for view in views {
            let span = view.span;
            write(span.start - end, &mut out);
            write(span.pages, &mut out);
            write(span.kindclass(), &mut out);
            write(view.live(), &mut out);
            let mut objects: Vec<_> = view.objects().collect();
            objects.sort_unstable_by_key(|&(slot, _)| slot);
            let mut next = 0;
            for (slot, tag) in objects {
                write(slot - next, &mut out);
                tag.write(last, &mut out);
                (next, last) = (slot + 1, tag);
            }
            end = span.end();
        }
        write(self.strays.len() as u64, &mut out);
        for (id, tag) in sorted(&self.strays) {
            write(id, &mut out);
            tag.write(last, &mut out);
            last = tag;
        }
        write(self.stacks.len() as u64, &mut out);
        for (id, bytes) in sorted(&self.stacks) {
            write(id, &mut out);
            write(bytes, &mut out);
        }
        out
    }

    /// The heap that these bytes are; `None` if they are none.
    pub(crate) fn read(bytes: &[u8]) -> Option<Heap<T>> {
        let mut from = Reading::new(bytes);
        let units = Units::of_sizes([from.number()?, from.number()?])?;
        let mut heap = Heap::new(units, from.number()? != 0);
        let (mut end, mut last) = (0_u64, T::FIRST);
        for _ in 0..from.number()? {
            let start = end.checked_add(from.number()?)?;
            let span = Span::new(start, from.number()?, from.number()?, &units)?;
            let slots = span.slot_count;
            end = span.end();
            let number = heap.spans.insert(span);
            let mut next = 0_u64;
            for _ in 0..from.number()? {
                let slot = next.checked_add(from.number()?).filter(|&slot| slot < slots)?;
                last = T::read(last, &mut from)?;
                heap.spans.put(number, slot, last);
                next = slot + 1;
            }
        }
        for _ in 0..from.number()? {
            let id = from.number()?;
            last = T::read(last, &mut from)?;
            heap.strays.insert(id, last);
        }
        for _ in 0..from.number()? {
            let (id, bytes) = (from.number()?, from.number()?);
            if bytes > 1 << STACK_ORDER_MAX {
                return None;
            }
            heap.stacks.insert(id, bytes);
        }
        from.is_done().then_some(heap)
    }
}

/// In the order of their ids: the same heap is the same bytes.
fn sorted<T: Copy>(by_id: &HashMap<u64, T, RandomState>) -> Vec<(u64, T)> {
    let mut sorted: Vec<_> = by_id.iter().map(|(&id, &value)| (id, value)).collect();
    sorted.sort_unstable_by_key(|&(id, _)| id);
    sorted
}

/// A record of a span takes a few bytes and makes room for so many objects at most, as the event of a
/// trace does.
const _: () = assert!(DENSE_MAX <= 1024);
