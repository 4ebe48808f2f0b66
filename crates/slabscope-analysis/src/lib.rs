//! The heap model replayed from a trace, and its reports as data.
//!
//! [`analyze`] reads a trace once, from its first event to its last, and keeps a model of the heap
//! beside it: spans, the slots in them, the objects in those, stacks. What it learns comes back as
//! a [`Report`], which is plain data; [`Report::verify`] says whether the trace holds together.
//! Memory grows with the live heap of the traced program and not with the file.
//!
//! ```
//! let header_only = b"go 1.26 trace\0\0\0";
//! let report = slabscope_analysis::analyze(header_only, &mut |_| {})?;
//! assert_eq!(report.objects.allocated.objects, 0);
//! assert!(!report.verify().is_sound());
//! # Ok::<(), slabscope_trace::Error>(())
//! ```
#![forbid(unsafe_code)]

mod fault;
mod heap;
mod moment;
mod replay;
mod report;
mod side_data;
mod tally;
mod verify;

pub use fault::{Example, FaultKind, FaultRow};
pub use moment::Moment;
pub use replay::analyze;
pub use report::{
    Amount, ClassRow, Completeness, CountRow, End, EventCount, Events, Extent, Objects, Origin,
    Peak, ReadError, Report, Requested, SideProblem, SpanKindRow, Spans, StackAmount, Stacks,
    State, ThreadRow, Tracing,
};
pub use verify::{Finding, Verification};
