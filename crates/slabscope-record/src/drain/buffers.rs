//! The drainer's memory, which is there before it is.

use crate::generation;
use crate::live::Live;
use crate::mapped::{Mapped, Zeroed};
use crate::policy::Policy;
use crate::runs::Runs;
use slabscope_os::file::File;

/// How far a ring is read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// Words taken so far.
    pub(super) taken: u64,
    /// Words taken once this round is over.
    pub(super) next: u64,
    /// Events taken so far.
    pub(super) records: u64,
    /// The thread of the last event.
    pub(super) thread: u32,
}

// SAFETY: made of numbers, for which zero is valid.
unsafe impl Zeroed for Place {}

/// All memory the drainer needs. It is made before the trace begins, by who begins it: a program that is
/// refused memory later has a whole trace all the same.
#[derive(Debug)]
pub(crate) struct Buffers {
    pub(super) generation: generation::Buffers,
    pub(super) places: Mapped<Place>,
    pub(super) runs: Runs,
}

impl Buffers {
    /// For a trace into `file` of so many rings; `None` when there is no memory.
    pub(crate) fn new(
        file: File,
        live: &Live,
        rings: usize,
        has_stacks: bool,
        policy: &Policy,
    ) -> Option<Self> {
        Some(Buffers {
            generation: generation::Buffers::new(file, live, has_stacks, policy)?,
            places: Mapped::new(rings)?,
            runs: Runs::new(rings)?,
        })
    }
}
