//! What cannot have happened: events that contradict those before them.

use std::fmt;

use serde::Serialize;

use crate::moment::Moment;

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

/// Faults as they are found.
#[derive(Debug, Default)]
pub(crate) struct Faults([(u64, Vec<Example>); FaultKind::ALL.len()]);

impl Faults {
    /// Counts one; `example` is asked for the first few.
    pub(crate) fn add(&mut self, kind: FaultKind, example: impl FnOnce() -> Example) {
        let (count, examples) = &mut self.0[kind as usize];
        *count += 1;
        if examples.len() < EXAMPLES {
            examples.push(example());
        }
    }

    /// The kinds there were.
    pub(crate) fn into_rows(self) -> Vec<FaultRow> {
        let rows = FaultKind::ALL.into_iter().zip(self.0);
        rows.filter(|(_, (count, _))| *count > 0)
            .map(|(kind, (count, examples))| FaultRow { kind, count, examples })
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
