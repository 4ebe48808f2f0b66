//! Processors: who has one, and how it passes from thread to thread.

use super::states::{ProcEntry, ProcStatus, Ranges, Sequence};
use super::{Context, Input, Need, Order, Outcome};
use crate::error::StateError;
use crate::event::{Kind, ProcState, StateTransition, Transition};
use crate::id::{ProcId, ThreadId};

/// The kind of an event in which `id` goes from one state to another.
pub(super) fn transition(id: ProcId, from: ProcState, to: ProcState) -> Kind {
    Kind::StateTransition(StateTransition {
        transition: Transition::Proc { id, from, to },
        reason: None,
        stack: None,
    })
}

impl Order {
    pub(super) fn proc_status(&mut self, input: &Input<'_>, mut cx: Context) -> Outcome {
        let proc = ProcId(input.arg(0) as i64);
        let status = ProcStatus::new(input.arg(1))?;
        let sequence = Sequence::start(input.generation);
        let mut after = cx;
        if matches!(status, ProcStatus::Running | ProcStatus::Syscall) {
            after.proc = proc;
        }
        let (from, to) = match self.procs.get_mut(&proc) {
            None => {
                let entry = ProcEntry { status, sequence, ranges: Ranges::default() };
                self.procs.insert(proc, entry);
                let is_first = input.generation == self.first_generation;
                let from = if is_first { ProcState::Undetermined } else { ProcState::NotExist };
                (from, status.state())
            }
            Some(entry) => {
                let known = entry.status;
                entry.sequence = sequence;
                match (status, known) {
                    // Nothing was lost: the system call is known. The thread that tells of it is
                    // likely another than the one that is in it, so the event moves there.
                    (ProcStatus::SyscallAbandoned, ProcStatus::Syscall) => {
                        cx = self.context_of_proc(proc)?;
                        (ProcState::Running, ProcState::Running)
                    }
                    _ if status == known => (status.state(), status.state()),
                    _ => return Err(StateError::ProcStatusDiffers(proc)),
                }
            }
        };
        Ok(self.emit(input, cx, transition(proc, from, to), after))
    }

    /// The context of the thread that has `proc`.
    fn context_of_proc(&self, proc: ProcId) -> Result<Context, StateError> {
        let owner = self.threads.iter().find(|entry| entry.proc == proc);
        let owner = owner.ok_or(StateError::UnboundProc(proc))?;
        Ok(Context { thread: owner.thread, proc, goroutine: owner.goroutine })
    }

    pub(super) fn proc_start(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        let proc = ProcId(input.arg(0) as i64);
        let sequence = Sequence { generation: input.generation, number: input.arg(1) };
        let Some(entry) = self.procs.get_mut(&proc) else {
            return Ok(None);
        };
        // A thread that still has a processor is in a system call and about to lose it.
        if entry.status != ProcStatus::Idle
            || !sequence.follows(entry.sequence)
            || cx.proc != ProcId::NONE
        {
            return Ok(None);
        }
        // There can be a goroutine, on its way out of a system call.
        cx.require(Need::MustNot, Need::May)?;
        entry.status = ProcStatus::Running;
        entry.sequence = sequence;
        let kind = transition(proc, ProcState::Idle, ProcState::Running);
        Ok(self.emit(input, cx, kind, Context { proc, ..cx }))
    }

    pub(super) fn proc_stop(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        let proc = cx.proc;
        let entry = self.procs.get_mut(&proc).ok_or(StateError::UnknownProc(proc))?;
        if !matches!(entry.status, ProcStatus::Running | ProcStatus::Syscall) {
            return Err(StateError::WrongProcState(proc));
        }
        cx.require(Need::Must, Need::May)?;
        entry.status = ProcStatus::Idle;
        let kind = transition(proc, ProcState::Running, ProcState::Idle);
        Ok(self.emit(input, cx, kind, Context { proc: ProcId::NONE, ..cx }))
    }

    pub(super) fn proc_steal(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        let proc = ProcId(input.arg(0) as i64);
        let sequence = Sequence { generation: input.generation, number: input.arg(1) };
        let Some(entry) = self.procs.get_mut(&proc) else {
            return Ok(None);
        };
        let known = entry.status;
        if !matches!(known, ProcStatus::Syscall | ProcStatus::SyscallAbandoned)
            || !sequence.follows(entry.sequence)
        {
            return Ok(None);
        }
        cx.require(Need::May, Need::May)?;
        entry.status = ProcStatus::Idle;
        entry.sequence = sequence;
        if known == ProcStatus::SyscallAbandoned {
            // Its thread may have gone on to anything, and already was shown to have lost it.
            let kind = transition(proc, ProcState::Idle, ProcState::Idle);
            return Ok(self.emit(input, cx, kind, cx));
        }
        let after = self.take_from_thread(proc, ThreadId(input.arg(2) as i64), cx)?;
        Ok(self.emit(input, cx, transition(proc, ProcState::Running, ProcState::Idle), after))
    }

    /// Takes `proc` from the thread that is in a system call with it; that can be the thief.
    fn take_from_thread(
        &mut self,
        proc: ProcId,
        thread: ThreadId,
        cx: Context,
    ) -> Result<Context, StateError> {
        if thread == cx.thread {
            if cx.proc != proc {
                return Err(StateError::StolenProcDiffers(proc));
            }
            return Ok(Context { proc: ProcId::NONE, ..cx });
        }
        let victim = self.thread_place(thread).and_then(|place| self.threads.get_mut(place));
        let victim = victim.ok_or(StateError::UnknownThread(thread))?;
        if victim.proc != proc {
            return Err(StateError::StolenProcDiffers(proc));
        }
        victim.proc = ProcId::NONE;
        Ok(cx)
    }
}
