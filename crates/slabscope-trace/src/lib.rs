//! A reader of Go execution traces, with the AllocFree experiment.
#![forbid(unsafe_code)]

pub mod alloc_free;
mod batch;
mod clock;
mod cursor;
pub mod dump;
mod error;
mod event;
mod experiment;
mod frontier;
mod generation;
mod id;
mod limits;
mod order;
mod reader;
mod stack;
mod sync;
mod tables;
mod text;

pub use error::{Error, ErrorKind, StateError};
pub use event::{
    Event, GoState, Kind, Log, ProcState, Range, RangeName, Region, Resource, StateTransition,
    Swept, Task, Transition,
};
pub use experiment::{Experiment, ExperimentalBatch, ExperimentalData, ExperimentalEvent};
pub use id::{GoId, ProcId, TaskId, ThreadId, Time};
pub use reader::Reader;
pub use stack::{Frame, Stack};
pub use sync::{ClockSnapshot, Sync, WallTime};
pub use text::Text;
