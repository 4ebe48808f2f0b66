//! The report: everything a trace tells about the heap, as plain data.
//!
//! Field names are those of the machine-readable output; a change to them is a new version of it.

mod account;
mod completeness;

pub use account::Account;
pub use completeness::{Completeness, CountRow, End, State};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fault::FaultRow;
use crate::moment::Moment;
use crate::window::Part;

/// What a trace tells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// How the trace was made.
    pub tracing: Tracing,
    /// Which part of it this is about.
    pub part: Part,
    /// Whether it is all there.
    pub completeness: Completeness,
    /// How many events of which kind.
    pub events: Events,
    /// The objects of the heap.
    pub objects: Objects,
    /// The same by size class, for classes that had any: slots from small to large, then large
    /// objects, then objects that lie in no slot.
    pub classes: Vec<ClassRow>,
    /// The threads that allocated or freed, in the order they were met.
    pub threads: Vec<ThreadRow>,
    /// The spans the objects lie in, and others.
    pub spans: Spans,
    /// Stacks of threads, coroutines or goroutines.
    pub stacks: Stacks,
    /// What cannot have happened.
    pub faults: Vec<FaultRow>,
    /// What is wrong with the side data, the first of it.
    pub side_problems: Vec<SideProblem>,
    /// How much is wrong with the side data.
    pub side_problem_count: u64,
    /// Objects whose site the trace does not have.
    pub unknown_sites: u64,
    /// Where and why reading ended before the end of the file.
    pub error: Option<ReadError>,
}

/// Whose trace it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Ours: it has side data of our kinds.
    Slabscope,
    /// Go's own, or that of another writer.
    Go,
}

/// How a trace was made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tracing {
    /// Whose trace it is.
    pub origin: Origin,
    /// Its format: 22 is that of Go 1.22.
    pub format: u8,
    /// Parts that were read, each readable by itself.
    pub generations: u64,
    /// Its start.
    pub start: Moment,
    /// From the start to the last event that was read, in nanoseconds.
    pub duration_ns: i64,
    /// What the writer says of itself and the program; empty in Go's traces.
    pub build: BTreeMap<String, String>,
}

/// How many events there are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Events {
    /// Those of the heap, by kind; all nine.
    pub heap: Vec<EventCount>,
    /// All others.
    pub other: u64,
}

impl Events {
    /// How many events of the heap there are.
    pub fn heap_total(&self) -> u64 {
        self.heap.iter().map(|row| row.count).sum()
    }
}

/// How many events of one kind there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EventCount {
    /// The kind, as Go's tools call it.
    pub event: &'static str,
    /// How many.
    pub count: u64,
}

/// A number of objects and the bytes of their slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// How many.
    pub objects: u64,
    /// Bytes of slots, which is what they cost.
    pub bytes: u64,
}

impl Amount {
    #[inline]
    pub(crate) fn add(&mut self, bytes: u64) {
        self.objects += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    pub(crate) fn plus(&mut self, other: Amount) {
        self.objects = self.objects.saturating_add(other.objects);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }

    pub(crate) fn minus(&mut self, other: Amount) {
        self.objects = self.objects.saturating_sub(other.objects);
        self.bytes = self.bytes.saturating_sub(other.bytes);
    }

    #[inline]
    pub(crate) fn sub(&mut self, bytes: u64) {
        self.minus(Amount { objects: 1, bytes });
    }
}

/// What was asked for, of the allocations whose size the trace tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Requested {
    /// How many these are.
    pub objects: u64,
    /// Bytes asked for.
    pub bytes: u64,
    /// Bytes of their slots that nobody asked for.
    pub slack_bytes: u64,
}

impl Requested {
    /// Adds objects that were asked for with `size` bytes each.
    pub(crate) fn add(&mut self, size: u64, allocated: Amount) {
        let asked = size.saturating_mul(allocated.objects);
        self.objects += allocated.objects;
        self.bytes = self.bytes.saturating_add(asked);
        self.slack_bytes = self.slack_bytes.saturating_add(allocated.bytes.saturating_sub(asked));
    }

    /// Slack as a part of the slots' bytes, from 0 to 1; `None` where no size is known.
    pub fn slack_part(&self) -> Option<f64> {
        let slots = self.bytes.saturating_add(self.slack_bytes);
        (slots > 0).then(|| self.slack_bytes as f64 / slots as f64)
    }
}

/// The objects of the heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Objects {
    /// Those that existed as the trace began.
    pub existed: Amount,
    /// Those allocated since.
    pub allocated: Amount,
    /// What was asked for when these were allocated.
    pub requested: Requested,
    /// Those freed.
    pub freed: Amount,
    /// Those that went without an event for it, which is a fault.
    pub vanished: Amount,
    /// Those left at the end.
    pub live: Amount,
    /// Objects put into slots that others had, in none of the figures above: Go's tiny ones.
    pub sharing: u64,
    /// The most bytes that were live at any moment.
    pub peak: Peak,
}

/// The most there was of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Peak {
    /// How many there were.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// When.
    pub at: Moment,
}

/// The objects of one size class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ClassRow {
    /// The class's number: 0 for large objects, `None` for those that lie in no slot.
    pub class: Option<u8>,
    /// Bytes of a slot; `None` where they differ.
    pub slot_bytes: Option<u64>,
    /// Objects that existed as the trace began.
    pub existed: Amount,
    /// Objects allocated since.
    pub allocated: Amount,
    /// What was asked for when these were allocated.
    pub requested: Requested,
    /// Objects freed.
    pub freed: Amount,
    /// Objects left at the end.
    pub live: Amount,
}

/// The objects one thread allocated and freed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThreadRow {
    /// Its number.
    pub id: i64,
    /// Its name; empty where the trace does not tell.
    pub name: String,
    /// When it began, where the trace tells.
    pub start: Option<Moment>,
    /// When it ended, where the trace tells.
    pub end: Option<Moment>,
    /// What it allocated.
    pub allocated: Amount,
    /// What it freed.
    pub freed: Amount,
    /// What it freed of what other threads had allocated.
    pub freed_of_others: Amount,
    /// What other threads freed of what it had allocated.
    pub freed_by_others: Amount,
}

/// A number of spans and their pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// How many.
    pub spans: u64,
    /// Their pages.
    pub pages: u64,
}

impl Extent {
    pub(crate) fn add(&mut self, pages: u64) {
        self.plus(Extent { spans: 1, pages });
    }

    pub(crate) fn plus(&mut self, other: Extent) {
        self.spans = self.spans.saturating_add(other.spans);
        self.pages = self.pages.saturating_add(other.pages);
    }

    pub(crate) fn sub(&mut self, pages: u64) {
        self.spans = self.spans.saturating_sub(1);
        self.pages = self.pages.saturating_sub(pages);
    }
}

/// The spans of the heap.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Spans {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Those that existed as the trace began.
    pub existed: Extent,
    /// Those allocated since.
    pub allocated: Extent,
    /// Those freed.
    pub freed: Extent,
    /// Those that went without an event for it, which is a fault.
    pub vanished: Extent,
    /// Those left at the end.
    pub live: Extent,
    /// The most pages at any moment, and how many spans they made.
    pub peak: Extent,
    /// When that was.
    pub peak_at: Moment,
    /// Those left at the end, by kind.
    pub kinds: Vec<SpanKindRow>,
}

/// The spans of one kind at the end of the trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpanKindRow {
    /// The kind: `small`, `large`, `other` (stacks and the like) or `unknown`.
    pub kind: &'static str,
    /// Spans and pages.
    #[serde(flatten)]
    pub extent: Extent,
    /// Bytes of their pages.
    pub bytes: u64,
    /// Bytes of slots in use in them; `None` where they have no slots.
    pub live_bytes: Option<u64>,
    /// Spans without an object in them; `None` where they have no slots.
    pub empty_spans: Option<u64>,
}

impl SpanKindRow {
    /// Bytes in use as a part of the pages' bytes, from 0 to 1.
    pub fn occupancy(&self) -> Option<f64> {
        self.live_bytes.filter(|_| self.bytes > 0).map(|live| live as f64 / self.bytes as f64)
    }
}

/// A number of stacks and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackAmount {
    /// How many.
    pub stacks: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl StackAmount {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.plus(StackAmount { stacks: 1, bytes });
    }

    pub(crate) fn plus(&mut self, other: StackAmount) {
        self.stacks = self.stacks.saturating_add(other.stacks);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }

    pub(crate) fn sub(&mut self, bytes: u64) {
        self.stacks = self.stacks.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

/// The stacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stacks {
    /// Those that existed as the trace began.
    pub existed: StackAmount,
    /// Those allocated since.
    pub allocated: StackAmount,
    /// Those freed.
    pub freed: StackAmount,
    /// Those left at the end.
    pub live: StackAmount,
    /// The most bytes at any moment, and how many stacks they made.
    pub peak: StackAmount,
    /// When that was.
    pub peak_at: Moment,
}

/// What is wrong with a batch of side data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideProblem {
    /// The generation, from 1.
    pub generation: u64,
    /// Which of its batches of side data, from 0; `None` when it is about no single one.
    pub batch: Option<u64>,
    /// The kind of the batch.
    pub kind: Option<u8>,
    /// What is wrong, as the rest of a sentence.
    pub what: String,
}

/// Where and why reading ended before the end of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadError {
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// The generation, 0 for none.
    pub generation: u64,
    /// What is wrong there.
    pub what: String,
    /// Whether the file simply ends too early.
    pub is_cut_off: bool,
}
