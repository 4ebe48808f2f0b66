//! What is known of an object while it lives.

use std::num::NonZeroU32;

use slabscope_trace::Time;

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
