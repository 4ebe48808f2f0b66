//! The Go execution trace format (version 2), with the AllocFree experiment.
//!
//! One set of tables serves the recorder, which writes traces, and the reader: what an event is
//! called, which arguments it has and which experiment it belongs to stands in [`event`] and
//! nowhere else. Nothing here allocates, does I/O or knows how a trace is made.
//!
//! The format is Go's: see `docs/format.md` for what we add to it and why.
#![no_std]
#![forbid(unsafe_code)]

pub mod alloc_free;
pub mod batch;
pub mod buffer;
pub mod event;
pub mod header;
pub mod live;
pub mod size_class;
pub mod varint;
