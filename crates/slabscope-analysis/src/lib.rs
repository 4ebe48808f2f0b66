//! The heap model replayed from a trace, and its reports as data.
//!
//! [`analyze`] reads a trace once, from its first event to its last, and keeps a model of the heap
//! beside it: spans, the slots in them, the objects in those, stacks. What it learns comes back as
//! a [`Report`], which is plain data; [`Report::verify`] says whether the trace holds together.
//! Memory grows with the live heap of the traced program and not with the file.
//!
//! ```
//! use slabscope_trace::Open;
//!
//! let header_only = Open::bytes(b"go 1.26 trace\0\0\0")?;
//! let all = slabscope_analysis::Window::default();
//! let report = slabscope_analysis::analyze(header_only, all, &mut |_| {})?;
//! assert_eq!(report.objects.allocated.objects, 0);
//! assert!(!report.verify().is_sound());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod analyze;
mod error;
mod events;
mod fault;
mod frame;
mod heap;
mod index;
mod moment;
mod names;
mod numbers;
mod objects;
mod profile;
mod replay;
mod report;
mod serde_time;
mod side_data;
mod site_type;
mod sites;
mod stacks;
mod symbolize;
mod threads;
mod verify;
mod view;
mod window;

pub use analyze::analyze;
pub use error::AnalyzeError;
pub use events::{Beginning, EventsRead, Stretch, each_event, stretch};
pub use fault::{Example, FaultKind, FaultRow};
pub use frame::Frame;
pub use index::{Identity, Index, IndexError, IndexOptions, SUFFIX, profile_and_index};
pub use moment::Moment;
pub use objects::{ObjectEvent, ObjectRow, SiteRow, each_object};
pub use profile::{
    AGES, Ages, By, ClassLabel, ClassSpans, Lifetime, Pinned, Point, Profile, ProfileOptions,
    STRETCHES, SiteLabel, Temporary, ThreadLabel, Totals, profile, profile_without_names,
};
pub use report::{
    Account, Amount, ClassRow, Completeness, CountRow, End, EventCount, Events, Extent, Objects,
    Origin, Peak, ReadError, Report, Requested, SideProblem, SpanKindRow, Spans, StackAmount,
    Stacks, State, ThreadRow, Tracing,
};
pub use site_type::{SiteType, TypeCertainty};
pub use symbolize::{SymbolizeError, Symbolized, symbolize};
pub use verify::{Finding, Verification};
pub use view::{
    Change, Compared, Coverage, Diff, Figures, Folded, GroupLabel, Grouping, GroupsView, Leaks,
    Left, LiveAtPeak, Measure, PairRow, PeakView, Short, SiteFigures, SitesView, SizeRow,
    SizesView, SlotRow, SpansView, TemporaryView, ThreadFigures, ThreadsView, TypeRow, TypesView,
};
pub use window::{Bound, Part, Window};
