//! A reader of Go execution traces, with the AllocFree experiment.
//!
//! It reads the traces that slabscope writes and those of Go 1.22 to 1.27. The bytes of a file go
//! in, events come out, in the order and at the times that Go's own reader gives them:
//!
//! ```
//! use slabscope_trace::alloc_free::AllocFree;
//! use slabscope_trace::{Kind, Reader};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/go1.27-allocfree-small.trace");
//! let bytes = std::fs::read(path)?;
//! let (mut allocated, mut freed) = (0, 0);
//! for event in Reader::new(&bytes)? {
//!     if let Kind::Experimental(event) = event?.kind {
//!         match AllocFree::from_event(&event) {
//!             Some(AllocFree::HeapObjectAlloc { .. }) => allocated += 1,
//!             Some(AllocFree::HeapObjectFree { .. }) => freed += 1,
//!             _ => {}
//!         }
//!     }
//! }
//! assert_eq!((allocated, freed), (24_612, 20_424));
//! # Ok(())
//! # }
//! ```
//!
//! - A trace is a row of generations. A [`Sync`] event begins each, and has its side data; what
//!   slabscope and Go put there, [`alloc_free::GenerationData`] takes apart.
//! - What is wrong with a trace is an [`Error`] with its place in the file. The events of all
//!   generations before it have come by then. No input makes the reader panic.
//! - Memory grows with the largest generation, not with the file, where [`Open::stream`] reads it.
//!   Bytes that are in memory are borrowed.
//! - [`dump`] prints events line for line as `go tool trace -d=parsed` does.
//!
//! # Where it differs from Go's reader
//! - A table that ends where a number should begin is an error here. Go's reader takes it for the
//!   end of the trace and says nothing of the events it leaves out.
//! - Side data of an experiment that Go does not know is passed on. Go's reader panics.
//! - The formats before Go 1.22 are refused.
#![forbid(unsafe_code)]

mod ahead;
pub mod alloc_free;
mod batch;
mod catalog;
mod clock;
mod cursor;
pub mod dump;
mod error;
mod event;
mod experiment;
mod frontier;
mod generation;
mod id;
mod input;
mod limits;
mod merge;
mod order;
mod reader;
mod run;
mod source;
mod stack;
mod supply;
mod sync;
mod tables;
mod text;

pub use catalog::{Catalog, ExperimentSpec};
pub use error::{Error, ErrorKind, StateError};
pub use event::{
    Event, GoState, Kind, Log, ProcState, Range, RangeName, Region, Resource, StateTransition,
    Swept, Task, Transition,
};
pub use experiment::{Experiment, ExperimentalBatch, ExperimentalData, ExperimentalEvent};
pub use id::{GoId, ProcId, TaskId, ThreadId, Time};
pub use reader::{Open, Reader, Resume};
pub use run::{Experimental, ExperimentalRun, Place, Placed, Placer, Row, RowEvents, Run, Visitor};
pub use stack::{Frame, Stack};
pub use sync::{ClockSnapshot, Sync, WallTime};
pub use text::Text;
