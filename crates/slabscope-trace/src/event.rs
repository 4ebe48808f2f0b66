//! Events as the reader hands them out: ordered, checked, with names in place of numbers.

mod state;

pub use state::{GoState, ProcState, Resource, StateTransition, Transition};

use crate::experiment::ExperimentalEvent;
use crate::id::{GoId, ProcId, TaskId, ThreadId, Time};
use crate::stack::Stack;
use crate::sync::Sync;
use crate::text::Text;

/// Something that happened.
#[derive(Clone, Debug)]
pub struct Event {
    /// When; later than every event before it in the trace.
    pub time: Time,
    /// The thread it happened on.
    pub thread: ThreadId,
    /// The processor that thread had, before the event.
    pub proc: ProcId,
    /// The goroutine that ran, before the event.
    pub goroutine: GoId,
    /// Where in the program it happened.
    pub stack: Option<Stack>,
    /// What happened.
    pub kind: Kind,
}

/// What happened.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub enum Kind {
    /// A generation begins, or the trace ends.
    Sync(Box<Sync>),
    /// A metric has a new value.
    Metric {
        /// Its name, with the unit: as in Go's `runtime/metrics`.
        name: &'static str,
        /// Its value, in that unit.
        value: u64,
    },
    /// A goroutine got a label.
    Label {
        /// The label.
        label: Text,
        /// What it is for.
        resource: Resource,
    },
    /// A sample of what a CPU was executing; the event's stack says what.
    StackSample,
    /// A range of time begins.
    RangeBegin(Range),
    /// A range of time had begun before.
    RangeActive(Range),
    /// A range of time ends.
    RangeEnd(Range),
    /// A task begins.
    TaskBegin(Task),
    /// A task ends.
    TaskEnd(Task),
    /// A region begins.
    RegionBegin(Region),
    /// A region ends.
    RegionEnd(Region),
    /// A message of the program.
    Log(Log),
    /// A processor or goroutine changes its state.
    StateTransition(StateTransition),
    /// An event of an experiment.
    Experimental(ExperimentalEvent),
}

/// Size and niches of [`Kind`] keep an event in two cache lines: AllocFree traces have millions.
const _: () = assert!(size_of::<Event>() <= 128);

impl Kind {
    /// Its name, as Go's tools print it.
    pub const fn name(&self) -> &'static str {
        match self {
            Kind::Sync(_) => "Sync",
            Kind::Metric { .. } => "Metric",
            Kind::Label { .. } => "Label",
            Kind::StackSample => "StackSample",
            Kind::RangeBegin(_) => "RangeBegin",
            Kind::RangeActive(_) => "RangeActive",
            Kind::RangeEnd(_) => "RangeEnd",
            Kind::TaskBegin(_) => "TaskBegin",
            Kind::TaskEnd(_) => "TaskEnd",
            Kind::RegionBegin(_) => "RegionBegin",
            Kind::RegionEnd(_) => "RegionEnd",
            Kind::Log(_) => "Log",
            Kind::StateTransition(_) => "StateTransition",
            Kind::Experimental(_) => "Experimental",
        }
    }
}

/// A range of time with a name, bound to something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// What goes on in it.
    pub name: RangeName,
    /// What it is bound to; only one of its name can be open on it.
    pub scope: Resource,
}

/// What goes on in a range of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RangeName {
    /// The world is stopped, for this reason.
    StopTheWorld(Text),
    /// The collector marks.
    Mark,
    /// The collector sweeps on a processor; what came of it is known at the end.
    Sweep(Option<Swept>),
    /// A goroutine helps to mark.
    MarkAssist,
}

impl RangeName {
    /// What goes on, as Go's tools print it.
    pub fn text(&self) -> Text {
        match self {
            RangeName::StopTheWorld(reason) => {
                Text::new(&[b"stop-the-world (", reason.as_bytes(), b")"].concat())
            }
            RangeName::Mark => Text::from("GC concurrent mark phase"),
            RangeName::Sweep(_) => Text::from("GC incremental sweep"),
            RangeName::MarkAssist => Text::from("GC mark assist"),
        }
    }
}

/// What a sweep did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swept {
    /// Bytes looked at.
    pub swept_bytes: u64,
    /// Bytes that became free.
    pub reclaimed_bytes: u64,
}

/// A task of the traced program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Which.
    pub id: TaskId,
    /// The task it is part of.
    pub parent: TaskId,
    /// Its type, empty when its beginning is not in the trace.
    pub name: Text,
}

/// A region of the traced program: a task's work in one goroutine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The task it belongs to.
    pub task: TaskId,
    /// Its type.
    pub name: Text,
}

/// A message of the traced program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// The task it belongs to.
    pub task: TaskId,
    /// Its category.
    pub category: Text,
    /// The message.
    pub message: Text,
}
