//! What is known of an object while it lives.

use std::num::NonZeroU32;

use slabscope_trace::Time;

use crate::heap::KeptTag;
use crate::numbers::{Reading, write, write_near};

/// What is known of an object while it lives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tag {
    /// One more than the number of its cell.
    cell: NonZeroU32,
    /// How many objects its thread had allocated or freed then; wraps around.
    pub(crate) events: u32,
    /// When it was allocated; [`Tag::BEFORE`] for those that were there when the trace began.
    pub(crate) born: Time,
}

/// There is one for each live slot of the traced heap, and free ones beside it.
const _: () = assert!(size_of::<Option<Tag>>() == 16);

impl KeptTag for Tag {
    const FIRST: Tag = Tag { cell: NonZeroU32::MIN, events: 0, born: Time(0) };

    fn write(self, last: Tag, out: &mut Vec<u8>) {
        write(u64::from(self.cell.get()), out);
        write_near(i64::from(self.events), i64::from(last.events), out);
        // Objects that were there before the trace have a time far from all others.
        write_near(self.born.0, last.born.0, out);
    }

    fn read(last: Tag, from: &mut Reading<'_>) -> Option<Tag> {
        let cell = NonZeroU32::new(u32::try_from(from.number()?).ok()?)?;
        let events = u32::try_from(from.near(i64::from(last.events))?).ok()?;
        Some(Tag { cell, events, born: Time(from.near(last.born.0)?) })
    }
}

impl Tag {
    /// Before any trace.
    pub(crate) const BEFORE: Time = Time(i64::MIN);

    #[inline]
    pub(crate) fn new(cell: u32, events: u32, born: Time) -> Tag {
        Tag { cell: NonZeroU32::MIN.saturating_add(cell), events, born }
    }

    /// The number of its cell.
    #[inline]
    pub(crate) fn cell(self) -> usize {
        self.cell.get() as usize - 1
    }

    /// When it was allocated; `None` if that was before the trace began.
    #[inline]
    pub(crate) fn born(self) -> Option<Time> {
        (self.born != Tag::BEFORE).then_some(self.born)
    }
}
