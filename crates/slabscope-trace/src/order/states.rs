//! What is remembered of processors, goroutines, tasks and ranges of time.

use crate::error::StateError;
use crate::event::{GoState, ProcState};
use crate::id::TaskId;
use crate::text::Text;

/// The status of a goroutine, as the file numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GoStatus {
    /// 0, which Go lets pass.
    Unknown,
    Runnable,
    Running,
    Syscall,
    Waiting,
}

impl GoStatus {
    /// The status in an event's argument, of which only the low byte counts.
    pub(super) fn new(arg: u64) -> Result<Self, StateError> {
        Ok(match arg as u8 {
            0 => GoStatus::Unknown,
            1 => GoStatus::Runnable,
            2 => GoStatus::Running,
            3 => GoStatus::Syscall,
            4 => GoStatus::Waiting,
            other => return Err(StateError::BadStatus(other)),
        })
    }

    pub(super) fn state(self) -> GoState {
        match self {
            GoStatus::Unknown => GoState::Undetermined,
            GoStatus::Runnable => GoState::Runnable,
            GoStatus::Running => GoState::Running,
            GoStatus::Syscall => GoState::Syscall,
            GoStatus::Waiting => GoState::Waiting,
        }
    }
}

/// The status of a processor, as the file numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcStatus {
    /// 0, which Go lets pass.
    Unknown,
    Running,
    Idle,
    Syscall,
    /// In a system call whose thread is not known any more.
    SyscallAbandoned,
}

impl ProcStatus {
    /// The status in an event's argument, of which only the low byte counts.
    pub(super) fn new(arg: u64) -> Result<Self, StateError> {
        Ok(match arg as u8 {
            0 => ProcStatus::Unknown,
            1 => ProcStatus::Running,
            2 => ProcStatus::Idle,
            3 => ProcStatus::Syscall,
            4 => ProcStatus::SyscallAbandoned,
            other => return Err(StateError::BadStatus(other)),
        })
    }

    /// The state users see: a processor in a system call still belongs to its thread.
    pub(super) fn state(self) -> ProcState {
        match self {
            ProcStatus::Unknown => ProcState::Undetermined,
            ProcStatus::Running | ProcStatus::Syscall => ProcState::Running,
            ProcStatus::Idle | ProcStatus::SyscallAbandoned => ProcState::Idle,
        }
    }
}

/// Where a processor or goroutine is in the sequence of events of one generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sequence {
    pub(super) generation: u64,
    pub(super) number: u64,
}

impl Sequence {
    /// Where everything is when a status or its creation names it in a generation.
    pub(super) fn start(generation: u64) -> Self {
        Sequence { generation, number: 0 }
    }

    /// Whether this comes right after `before`.
    pub(super) fn follows(self, before: Sequence) -> bool {
        self.generation == before.generation && self.number == before.number.wrapping_add(1)
    }
}

/// What is known of a processor.
#[derive(Debug)]
pub(super) struct ProcEntry {
    pub(super) status: ProcStatus,
    pub(super) sequence: Sequence,
    pub(super) ranges: Ranges,
}

/// What is known of a goroutine.
#[derive(Debug)]
pub(super) struct GoEntry {
    pub(super) status: GoStatus,
    pub(super) sequence: Sequence,
    /// Open regions, the innermost last. By name, since numbers change with the generation.
    pub(super) regions: Vec<(TaskId, Text)>,
    pub(super) ranges: Ranges,
}

impl GoEntry {
    pub(super) fn new(status: GoStatus, generation: u64) -> Self {
        let sequence = Sequence::start(generation);
        GoEntry { status, sequence, regions: Vec::new(), ranges: Ranges::default() }
    }
}

/// What is known of a task that has begun.
#[derive(Debug)]
pub(super) struct TaskEntry {
    pub(super) parent: TaskId,
    pub(super) name: Text,
}

/// Whether the collector marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum GcState {
    #[default]
    Undetermined,
    NotRunning,
    Running,
}

/// The open ranges of time of a processor or goroutine.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    open: Vec<OpenRange>,
}

/// An open range of time.
#[derive(Clone, Debug)]
pub(super) struct OpenRange {
    /// The event that begins such a range.
    pub(super) begin: u8,
    /// The string that tells ranges of this kind apart, by number, or 0.
    pub(super) kind: u64,
    /// That string.
    pub(super) name: Option<Text>,
}

impl Ranges {
    fn has(&self, range: &OpenRange) -> bool {
        self.open.iter().any(|open| (open.begin, open.kind) == (range.begin, range.kind))
    }

    /// Opens a range that must not be open.
    pub(super) fn begin(&mut self, range: OpenRange) -> Result<(), StateError> {
        if self.has(&range) {
            return Err(StateError::RangeExists);
        }
        self.open.push(range);
        Ok(())
    }

    /// Confirms a range: in the first generation it is news, later it must be open.
    pub(super) fn confirm(&mut self, range: OpenRange, is_first: bool) -> Result<(), StateError> {
        if is_first {
            self.begin(range)
        } else if self.has(&range) {
            Ok(())
        } else {
            Err(StateError::RangeMissing)
        }
    }

    /// Closes the first range that `begin` opened.
    pub(super) fn end(&mut self, begin: u8) -> Result<OpenRange, StateError> {
        let open = self.open.iter().position(|open| open.begin == begin);
        open.map(|index| self.open.swap_remove(index)).ok_or(StateError::RangeMissing)
    }
}
