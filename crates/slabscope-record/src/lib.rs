//! The recorder: what happens between an event on an allocating thread and bytes in a trace file.
//!
//! A thread packs its event into a word or two ([`slabscope_wire::live::word`]) and pushes them onto the ring of the CPU
//! it runs on ([`ring`]). One thread of our own, the drainer ([`drain`]), takes what all rings have
//! committed, puts the runs of each thread in order, and writes them as the batches of a Go
//! execution trace ([`encode`], [`generation`], [`output`]).
//!
//! It knows ids, sizes and orders as numbers and nothing of the heap they come from. It allocates
//! on no heap: all its memory is mapped for it when a [`session`] begins.
#![no_std]

mod at_once;
mod claim;
mod clock;
pub mod counts;
mod declared;
pub mod drain;
pub mod emit;
pub mod encode;
pub mod generation;
mod hash;
mod index;
mod live;
pub mod mapped;
mod memory;
mod modules;
pub mod output;
mod policy;
mod reading;
pub mod ring;
mod running;
mod runs;
pub mod session;
mod short_text;
mod signal;
pub mod site;
pub mod stacks;
mod thread_clock;
pub mod thread_table;
mod type_names;

pub use at_once::AtOnce;
pub use counts::{EventKind, KINDS};
pub use declared::{Declared, Outer};
pub use emit::Emitter;
pub use memory::{Extent, LiveFile, RecorderMemory};
pub use output::CAN_COMPRESS;
pub use policy::{Clock, Overflow, Policy};
pub use running::Running;
pub use session::{Config, Session, StartError, Summary};
pub use signal::Signal;
pub use slabscope_unwind::{DEPTH_MAX, Place, Unwinder};
pub use slabscope_wire::alloc_free::EndReason;
pub use thread_clock::ThreadClock;
