//! What cannot have happened: events that contradict those before them.

use std::fmt;

use serde::{Deserialize, Serialize};
use slabscope_trace::Time;

use crate::moment::{Clock, Moment};
use crate::replay::event_name;
use crate::serde_time;

/// How an event contradicts those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// An object is freed that neither existed nor was allocated.
    FreeWithoutAlloc,
    /// An object is allocated in a slot that holds one.
    DoubleAlloc,
    /// An object is said to exist in a slot that holds one.
    DoubleExist,
    /// An object lies where no span is.
    ObjectInNoSpan,
    /// An object lies in a span that holds none.
    ObjectInOtherSpan,
    /// An object lies in a span behind its last slot.
    ObjectOutsideSlots,
    /// A span begins to exist where another is.
    SpanOverlap,
    /// A span is freed that neither existed nor was allocated.
    SpanFreeWithoutAlloc,
    /// A span is freed while objects live in it.
    SpanFreeWithObjects,
    /// A span has no pages, or ends beyond any address.
    SpanOutOfRange,
    /// A span has a size class that is not in the table.
    SpanOfUnknownClass,
    /// A stack begins to exist where another is.
    StackOverlap,
    /// A stack is freed that neither existed nor was allocated.
    StackFreeWithoutAlloc,
    /// A stack has a size that no stack can have.
    StackOfUnknownSize,
}

impl FaultKind {
    /// All of them, in the order of reports.
    pub const ALL: [FaultKind; 14] = [
        FaultKind::FreeWithoutAlloc,
        FaultKind::DoubleAlloc,
        FaultKind::DoubleExist,
        FaultKind::ObjectInNoSpan,
        FaultKind::ObjectInOtherSpan,
        FaultKind::ObjectOutsideSlots,
        FaultKind::SpanOverlap,
        FaultKind::SpanFreeWithoutAlloc,
        FaultKind::SpanFreeWithObjects,
        FaultKind::SpanOutOfRange,
        FaultKind::SpanOfUnknownClass,
        FaultKind::StackOverlap,
        FaultKind::StackFreeWithoutAlloc,
        FaultKind::StackOfUnknownSize,
    ];
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FaultKind::FreeWithoutAlloc => "object freed that was never allocated",
            FaultKind::DoubleAlloc => "object allocated in a slot in use",
            FaultKind::DoubleExist => "object said to exist in a slot in use",
            FaultKind::ObjectInNoSpan => "object outside every span",
            FaultKind::ObjectInOtherSpan => "object in a span that holds none",
            FaultKind::ObjectOutsideSlots => "object behind the last slot of its span",
            FaultKind::SpanOverlap => "span where another one is",
            FaultKind::SpanFreeWithoutAlloc => "span freed that was never allocated",
            FaultKind::SpanFreeWithObjects => "span freed with live objects in it",
            FaultKind::SpanOutOfRange => "span of no pages or beyond any address",
            FaultKind::SpanOfUnknownClass => "span of an unknown size class",
            FaultKind::StackOverlap => "stack where another one is",
            FaultKind::StackFreeWithoutAlloc => "stack freed that was never allocated",
            FaultKind::StackOfUnknownSize => "stack of an impossible size",
        })
    }
}

/// All faults of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FaultRow {
    /// Which.
    pub kind: FaultKind,
    /// How many.
    pub count: u64,
    /// The first of them.
    pub examples: Vec<Example>,
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Example {
    /// When.
    pub at: Moment,
    /// The thread its event happened on.
    pub thread: i64,
    /// The id its event names.
    pub id: u64,
    /// The event, as Go's tools call it.
    pub event: &'static str,
}

/// How many examples of each kind are kept.
const EXAMPLES: usize = 5;

/// A fault as it is found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Found {
    #[serde(with = "serde_time")]
    pub(crate) time: Time,
    pub(crate) thread: i64,
    /// What its event names.
    pub(crate) id: u64,
    /// Which of the nine kinds of events it is.
    pub(crate) event: u8,
}

/// All faults so far: for each kind how many, and the first few.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Faults([(u64, Vec<Found>); FaultKind::ALL.len()]);

impl Faults {
    /// Counts one.
    pub(crate) fn add(&mut self, kind: FaultKind, found: Found) {
        let (count, first) = &mut self.0[kind as usize];
        *count += 1;
        if first.len() < EXAMPLES {
            first.push(found);
        }
    }

    /// Takes in those that follow.
    pub(crate) fn append(&mut self, next: &Faults) {
        for ((count, first), (more, found)) in self.0.iter_mut().zip(&next.0) {
            *count = count.saturating_add(*more);
            first.extend(found.iter().take(EXAMPLES - first.len().min(EXAMPLES)));
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().fold(0, |sum, (count, _)| sum.saturating_add(*count))
    }

    /// The kinds there were.
    pub(crate) fn rows(&self, clock: &Clock) -> Vec<FaultRow> {
        let example = |found: &Found| Example {
            at: clock.moment(found.time),
            thread: found.thread,
            id: found.id,
            event: event_name(found.event),
        };
        let rows = FaultKind::ALL.into_iter().zip(&self.0);
        rows.filter(|(_, (count, _))| *count > 0)
            .map(|(kind, (count, first))| FaultRow {
                kind,
                count: *count,
                examples: first.iter().map(example).collect(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_listed_in_the_order_of_their_numbers() {
        for (index, kind) in FaultKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
        }
    }
}
