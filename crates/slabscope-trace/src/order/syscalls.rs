//! System calls: a goroutine is away with its thread, and may lose its processor meanwhile.

use super::goroutines::{explained, transition};
use super::states::{GoEntry, GoStatus, ProcEntry, ProcStatus, Sequence};
use super::{Context, Input, Need, Order, Outcome, procs};
use crate::error::StateError;
use crate::event::{GoState, ProcState};
use crate::id::{GoId, ProcId};

impl Order {
    fn current_proc(&mut self, cx: Context) -> Result<&mut ProcEntry, StateError> {
        self.procs.get_mut(&cx.proc).ok_or(StateError::UnknownProc(cx.proc))
    }

    pub(super) fn go_syscall_begin(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        cx.require_running()?;
        self.current_go(cx, GoStatus::Running)?.status = GoStatus::Syscall;
        // The number tells which system call a later theft of the processor belongs to. The
        // processor runs here, so there is nothing to wait for.
        let sequence = Sequence { generation: input.generation, number: input.arg(0) };
        let proc = self.current_proc(cx)?;
        proc.status = ProcStatus::Syscall;
        if !sequence.follows(proc.sequence) {
            return Err(StateError::ProcSequence(cx.proc));
        }
        proc.sequence = sequence;
        let (from, to) = (GoState::Running, GoState::Syscall);
        let kind = explained(cx.goroutine, from, to, None, input.own_stack());
        Ok(self.emit(input, cx, kind, cx))
    }

    pub(super) fn go_syscall_end(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        cx.require_running()?;
        self.current_go(cx, GoStatus::Syscall)?.status = GoStatus::Running;
        let proc = self.current_proc(cx)?;
        if proc.status != ProcStatus::Syscall {
            return Err(StateError::WrongProcState(cx.proc));
        }
        proc.status = ProcStatus::Running;
        let kind = transition(cx.goroutine, GoState::Syscall, GoState::Running);
        Ok(self.emit(input, cx, kind, cx))
    }

    pub(super) fn go_syscall_end_blocked(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        // This comes after the processor was lost, and that event may be another thread's. A
        // processor the thread has got since is not in a system call.
        if cx.proc != ProcId::NONE && self.current_proc(cx)?.status == ProcStatus::Syscall {
            return Ok(None);
        }
        cx.require(Need::May, Need::Must)?;
        self.current_go(cx, GoStatus::Syscall)?.status = GoStatus::Runnable;
        let kind = transition(cx.goroutine, GoState::Syscall, GoState::Runnable);
        Ok(self.emit(input, cx, kind, Context { goroutine: GoId::NONE, ..cx }))
    }

    /// A thread that Go did not make calls into Go: its goroutine is born in a system call.
    pub(super) fn go_create_syscall(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        cx.require(Need::May, Need::MustNot)?;
        let goroutine = GoId(input.arg(0) as i64);
        if self.gos.contains_key(&goroutine) {
            return Err(StateError::GoExists(goroutine));
        }
        self.gos.insert(goroutine, GoEntry::new(GoStatus::Syscall, input.generation));
        let kind = transition(goroutine, GoState::NotExist, GoState::Syscall);
        Ok(self.emit(input, cx, kind, Context { goroutine, ..cx }))
    }

    /// Such a call is over. The thread gives up its processor too, as the system may give its
    /// number to another thread, which must not be taken for the owner.
    pub(super) fn go_destroy_syscall(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        cx.require(Need::May, Need::Must)?;
        self.current_go(cx, GoStatus::Syscall)?;
        self.gos.remove(&cx.goroutine);
        if cx.proc != ProcId::NONE {
            let proc = self.current_proc(cx)?;
            if proc.status != ProcStatus::Syscall {
                return Err(StateError::WrongProcState(cx.proc));
            }
            proc.status = ProcStatus::SyscallAbandoned;
            let lost = procs::transition(cx.proc, ProcState::Running, ProcState::Idle);
            self.push(input.raw.time, cx, None, lost);
        }
        let kind = transition(cx.goroutine, GoState::Syscall, GoState::NotExist);
        let after = Context { goroutine: GoId::NONE, proc: ProcId::NONE, ..cx };
        Ok(self.emit(input, cx, kind, after))
    }
}
