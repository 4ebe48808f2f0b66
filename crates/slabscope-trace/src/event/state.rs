//! States of processors and goroutines, and how they change.

use std::fmt;

use crate::id::{GoId, ProcId, ThreadId};
use crate::stack::Stack;
use crate::text::Text;

/// What a label, range or change of state is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// The whole program.
    None,
    /// A goroutine.
    Goroutine(GoId),
    /// A processor.
    Proc(ProcId),
    /// A thread.
    Thread(ThreadId),
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resource::None => f.write_str("None"),
            Resource::Goroutine(id) => write!(f, "Goroutine({id})"),
            Resource::Proc(id) => write!(f, "Proc({id})"),
            Resource::Thread(id) => write!(f, "Thread({id})"),
        }
    }
}

/// The state of a goroutine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GoState {
    /// Not known: the trace begins here.
    Undetermined,
    /// It does not exist.
    NotExist,
    /// It could run.
    Runnable,
    /// It runs.
    Running,
    /// It waits for something.
    Waiting,
    /// It is in a system call.
    Syscall,
}

impl fmt::Display for GoState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GoState::Undetermined => "Undetermined",
            GoState::NotExist => "NotExist",
            GoState::Runnable => "Runnable",
            GoState::Running => "Running",
            GoState::Waiting => "Waiting",
            GoState::Syscall => "Syscall",
        })
    }
}

/// The state of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProcState {
    /// Not known: the trace begins here.
    Undetermined,
    /// It does not exist.
    NotExist,
    /// A thread has it.
    Running,
    /// No thread has it.
    Idle,
}

impl fmt::Display for ProcState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ProcState::Undetermined => "Undetermined",
            ProcState::NotExist => "NotExist",
            ProcState::Running => "Running",
            ProcState::Idle => "Idle",
        })
    }
}

/// A change of state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateTransition {
    /// Whose state, from which to which.
    pub transition: Transition,
    /// Why, where the trace says so.
    pub reason: Option<Text>,
    /// Where the thing that changes is: of a new goroutine, where it starts.
    pub stack: Option<Stack>,
}

/// Whose state changes, from which to which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transition {
    /// A goroutine's.
    Goroutine {
        /// Which.
        id: GoId,
        /// The state before.
        from: GoState,
        /// The state after.
        to: GoState,
    },
    /// A processor's.
    Proc {
        /// Which.
        id: ProcId,
        /// The state before.
        from: ProcState,
        /// The state after.
        to: ProcState,
    },
}
