//! Where objects lie, found ahead of whoever looks at the events.
//!
//! To replay a heap takes two steps an event: to find the object's slot, and to note what happened to
//! what lies there. The first asks for nothing but the spans that there are, so the thread that reads
//! ahead can do it, and two processors have about as much to do each.

use std::fmt;
use std::slice;

use super::later;
use crate::alloc_free::AllocFree;
use crate::id::Time;
use crate::merge::Plain;

/// How many events a row has at most: few enough for the processor's first cache.
const ROW_MAX: usize = 256;

/// Finds the places of objects, for [`Open::placing`](crate::Open::placing).
///
/// It is shown the events of the heap in their order, but for those that have to wait for events of other
/// threads and what follows them in a generation; those have no place.
pub trait Placer {
    /// Where the object `id` lies, which the next event allocates or frees; `None` if it cannot tell.
    fn place(&mut self, id: u64) -> Option<Place>;
    /// The next event is another one.
    fn other(&mut self, what: AllocFree);
}

/// Where an object lies; what the numbers mean is the [`Placer`]'s to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its slot.
    pub slot: u32,
    /// The class of the slot.
    pub class: std::num::NonZeroU8,
}

/// An allocation or a free of an object whose place was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// When.
    pub time: Time,
    /// Which object.
    pub id: u64,
    /// Of one that is allocated: its type, or in our traces its site; 0 for none.
    pub ty: u64,
    /// [`Place::slot`].
    pub slot: u32,
    /// [`Place::class`].
    pub class: u8,
    /// Whether it is allocated, not freed.
    pub is_alloc: bool,
}

/// Such events of one thread with nothing in between: some hundred at most, and never none.
#[derive(Clone, Copy, Debug)]
pub struct Row<'r> {
    events: &'r [Plain],
    /// The time of the event before.
    before: Time,
    last: Time,
}

impl<'r> Row<'r> {
    /// The row that `events` begin with, the first of which must be placed.
    #[inline]
    pub(super) fn first_of(events: &'r [Plain], before: Time) -> Row<'r> {
        let (mut last, mut len, lane) = (before, 0, events.first().map(|event| event.lane));
        for event in events.iter().take(ROW_MAX) {
            if !event.is_placed() || Some(event.lane) != lane {
                break;
            }
            last = later(event.time, last);
            len += 1;
        }
        Row { events: events.get(..len).unwrap_or_default(), before, last }
    }

    /// How many events there are.
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    #[inline]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// The time of the last one.
    #[inline]
    pub fn last(&self) -> Time {
        self.last
    }

    /// The slots of all events, in order.
    #[inline]
    pub fn slots(&self) -> impl Iterator<Item = u32> + use<'r> {
        self.events.iter().map(Plain::slot)
    }
}

impl<'r> IntoIterator for Row<'r> {
    type Item = Placed;
    type IntoIter = RowEvents<'r>;

    #[inline]
    fn into_iter(self) -> RowEvents<'r> {
        RowEvents { events: self.events.iter(), last: self.before }
    }
}

/// The events of a row.
#[derive(Clone, Debug)]
pub struct RowEvents<'r> {
    events: slice::Iter<'r, Plain>,
    last: Time,
}

impl Iterator for RowEvents<'_> {
    type Item = Placed;

    #[inline]
    fn next(&mut self) -> Option<Placed> {
        let event = self.events.next()?;
        self.last = later(event.time, self.last);
        Some(event.placed(self.last))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.events.size_hint()
    }
}

/// The placer of a trace that has one.
#[derive(Default)]
pub(crate) struct Placing<'a>(Option<Box<dyn PlaceAll + Send + 'a>>);

impl<'a> Placing<'a> {
    pub(crate) fn by(placer: impl Placer + Send + 'a) -> Placing<'a> {
        Placing(Some(Box::new(placer)))
    }

    /// Finds the places of the events that come next.
    pub(crate) fn place(&mut self, events: &mut [Plain]) {
        if let Placing(Some(placer)) = self {
            placer.place_all(events);
        }
    }
}

impl fmt::Debug for Placing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Placing" } else { "Nothing" })
    }
}

/// One call for many events.
trait PlaceAll {
    fn place_all(&mut self, events: &mut [Plain]);
}

impl<P: Placer> PlaceAll for P {
    fn place_all(&mut self, events: &mut [Plain]) {
        for event in events {
            event.find_place(self);
        }
    }
}
