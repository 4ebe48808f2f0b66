//! Names of things in a trace, as numbers: times, threads, processors, goroutines, tasks.

use std::fmt;

/// A time in nanoseconds of the trace's clock.
///
/// Only differences mean anything, unless the generation's
/// [`ClockSnapshot`](crate::ClockSnapshot) ties the clock to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

impl Time {
    /// Nanoseconds from `earlier` to this time; wraps where the two are further apart than that.
    pub const fn since(self, earlier: Time) -> i64 {
        self.0.wrapping_sub(earlier.0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub i64);

        impl $name {
            /// None of them.
            pub const NONE: $name = $name(-1);
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

ids! {
    /// A thread of the operating system (an M to Go).
    ThreadId
    /// A processor of Go's scheduler (a P): the right to run Go code, not a CPU.
    ProcId
    /// A goroutine.
    GoId
}

/// A task of the traced program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u64);

impl TaskId {
    /// No task.
    pub const NONE: TaskId = TaskId(u64::MAX);
    /// What regions belong to when no task was named.
    pub const BACKGROUND: TaskId = TaskId(0);
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
