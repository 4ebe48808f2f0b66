//! Sync events: where one generation ends and the next begins.

use std::fmt;
use std::sync::Arc;

use crate::experiment::ExperimentalData;
use crate::id::Time;
use crate::stack::Stack;
use crate::tables::Tables;

/// What holds from here to the next sync event.
///
/// A trace has one before each generation's events and one at its end, also when the end is an
/// error.
#[derive(Clone)]
pub struct Sync {
    /// How many there were, this one included.
    pub n: u64,
    /// One moment on several clocks; traces since Go 1.25 have it, the last sync event never.
    pub clock: Option<ClockSnapshot>,
    /// All side data of experiments in the generation that begins here.
    pub experimental: Arc<ExperimentalData>,
    pub(crate) tables: Option<Arc<Tables>>,
}

impl Sync {
    /// The stack with this number in the generation that begins here: for side data that names
    /// stacks by number. 0 is no stack.
    pub fn stack(&self, id: u64) -> Option<Stack> {
        let tables = self.tables.as_ref()?;
        (id != 0 && tables.has_stack(id)).then(|| Stack::new(Arc::clone(tables), id))
    }
}

impl fmt::Debug for Sync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sync")
            .field("n", &self.n)
            .field("clock", &self.clock)
            .field("experimental", &self.experimental.batches.len())
            .finish_non_exhaustive()
    }
}

/// One moment, read on several clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockSnapshot {
    /// The trace's clock.
    pub trace: Time,
    /// The system's monotonic clock, in nanoseconds.
    pub mono: u64,
    /// The wall clock.
    pub wall: WallTime,
}

/// A time of day: seconds and nanoseconds since 1970 in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallTime {
    /// Whole seconds.
    pub seconds: i64,
    /// Nanoseconds after them, below 10⁹.
    pub nanos: u32,
}
