//! How an event can contradict those before it.

use std::fmt;

use crate::id::{GoId, ProcId, TaskId, ThreadId};

/// How an event contradicts those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateError {
    /// It needs a thread and belongs to none.
    NoThread,
    /// It needs a processor and its thread has none.
    NoProc,
    /// Its thread must have no processor and has one.
    HasProc,
    /// It needs a goroutine and its thread runs none.
    NoGoroutine,
    /// Its thread must run no goroutine and runs one.
    HasGoroutine,
    /// Nothing can be said of its order: it has no place among a thread's events.
    NoOrder,
    /// It gives a status that does not exist.
    BadStatus(u8),
    /// It gives a processor another status than the events before did.
    ProcStatusDiffers(ProcId),
    /// It gives a goroutine another status than the events before did.
    GoStatusDiffers(GoId),
    /// It gives the status of a goroutine nobody created.
    GoStatusLate(GoId),
    /// The processor was never seen.
    UnknownProc(ProcId),
    /// The goroutine was never seen, or has ended.
    UnknownGo(GoId),
    /// The processor is in the wrong state for it.
    WrongProcState(ProcId),
    /// The goroutine is in the wrong state for it.
    WrongGoState(GoId),
    /// No thread has the processor that is about to be stolen.
    UnboundProc(ProcId),
    /// The processor is stolen from this thread, which was never seen.
    UnknownThread(ThreadId),
    /// The processor is stolen from a thread that has another.
    StolenProcDiffers(ProcId),
    /// A goroutine is in a system call without a thread.
    SyscallWithoutThread(GoId),
    /// A goroutine is in a system call on a thread that runs another.
    SyscallThreadDiffers(GoId),
    /// The goroutine is created and exists.
    GoExists(GoId),
    /// The processor's sequence number is not the next.
    ProcSequence(ProcId),
    /// The task begins and has begun.
    TaskExists(TaskId),
    /// The region that ends is not the innermost.
    RegionMismatch(GoId),
    /// A collection is under way where none can be.
    GcRunning,
    /// No collection is under way where one must be.
    GcNotRunning,
    /// The range begins and has begun.
    RangeExists,
    /// The range ends or goes on and has not begun.
    RangeMissing,
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            StateError::NoThread => f.write_str("needs a thread"),
            StateError::NoProc => f.write_str("needs a processor"),
            StateError::HasProc => f.write_str("its thread has a processor"),
            StateError::NoGoroutine => f.write_str("needs a goroutine"),
            StateError::HasGoroutine => f.write_str("its thread runs a goroutine"),
            StateError::NoOrder => f.write_str("cannot stand among a thread's events"),
            StateError::BadStatus(status) => write!(f, "there is no status {status}"),
            StateError::ProcStatusDiffers(p) => write!(f, "processor {p} has another status"),
            StateError::GoStatusDiffers(g) => write!(f, "goroutine {g} has another status"),
            StateError::GoStatusLate(g) => write!(f, "goroutine {g} was never created"),
            StateError::UnknownProc(p) => write!(f, "processor {p} is unknown"),
            StateError::UnknownGo(g) => write!(f, "goroutine {g} is unknown"),
            StateError::WrongProcState(p) => write!(f, "processor {p} is in the wrong state"),
            StateError::WrongGoState(g) => write!(f, "goroutine {g} is in the wrong state"),
            StateError::UnboundProc(p) => write!(f, "no thread has processor {p}"),
            StateError::UnknownThread(m) => write!(f, "thread {m} is unknown"),
            StateError::StolenProcDiffers(p) => {
                write!(f, "processor {p} is not the one its thread has")
            }
            StateError::SyscallWithoutThread(g) => {
                write!(f, "goroutine {g} is in a system call without a thread")
            }
            StateError::SyscallThreadDiffers(g) => {
                write!(f, "goroutine {g} is in a system call of a thread that runs another")
            }
            StateError::GoExists(g) => write!(f, "goroutine {g} exists"),
            StateError::ProcSequence(p) => {
                write!(f, "not the next sequence number of processor {p}")
            }
            StateError::TaskExists(task) => write!(f, "task {task} has begun before"),
            StateError::RegionMismatch(g) => {
                write!(f, "not the innermost region of goroutine {g}")
            }
            StateError::GcRunning => f.write_str("a collection is under way"),
            StateError::GcNotRunning => f.write_str("no collection is under way"),
            StateError::RangeExists => f.write_str("its range of time has begun before"),
            StateError::RangeMissing => f.write_str("its range of time has not begun"),
        }
    }
}
