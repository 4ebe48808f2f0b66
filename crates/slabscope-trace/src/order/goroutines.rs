//! Goroutines: created, started, stopped, switched.

use super::states::{GoEntry, GoStatus, Sequence};
use super::{Context, Input, Need, Order, Outcome, ThreadEntry};
use crate::error::StateError;
use crate::event::{GoState, Kind, StateTransition, Transition};
use crate::id::{GoId, ProcId, ThreadId};
use crate::stack::Stack;
use crate::text::Text;

use slabscope_wire::event::id;

/// The kind of an event in which `id` goes from one state to another.
pub(super) fn transition(id: GoId, from: GoState, to: GoState) -> Kind {
    explained(id, from, to, None, None)
}

/// The same, with why and where.
pub(super) fn explained(
    id: GoId,
    from: GoState,
    to: GoState,
    reason: Option<Text>,
    stack: Option<Stack>,
) -> Kind {
    let transition = Transition::Goroutine { id, from, to };
    let reason = reason.filter(|reason| !reason.is_empty());
    Kind::StateTransition(StateTransition { transition, reason, stack })
}

impl Order {
    pub(super) fn go_status(&mut self, input: &Input<'_>, mut cx: Context) -> Outcome {
        let goroutine = GoId(input.arg(0) as i64);
        let thread = ThreadId(input.arg(1) as i64);
        let status = GoStatus::new(input.arg(2))?;
        let mut from = status.state();
        if let Some(entry) = self.gos.get_mut(&goroutine) {
            if entry.status != status {
                return Err(StateError::GoStatusDiffers(goroutine));
            }
            entry.sequence = Sequence::start(input.generation);
        } else if input.generation == self.first_generation {
            self.gos.insert(goroutine, GoEntry::new(status, input.generation));
            from = GoState::Undetermined;
        } else {
            return Err(StateError::GoStatusLate(goroutine));
        }
        let mut after = cx;
        match status {
            GoStatus::Running => after.goroutine = goroutine,
            GoStatus::Syscall if thread == ThreadId::NONE => {
                return Err(StateError::SyscallWithoutThread(goroutine));
            }
            GoStatus::Syscall if thread == cx.thread => {
                // After the first generation the two were bound before.
                if input.generation != self.first_generation && cx.goroutine != goroutine {
                    return Err(StateError::SyscallThreadDiffers(goroutine));
                }
                after.goroutine = goroutine;
            }
            GoStatus::Syscall => cx = self.bind_absent(goroutine, thread, cx)?,
            _ => {}
        }
        let kind = explained(goroutine, from, status.state(), None, input.own_stack());
        Ok(self.emit(input, cx, kind, after))
    }

    /// Binds `goroutine` to `thread`, where it sits in a system call for all of the generation, so
    /// that another thread tells of it; the event belongs there.
    fn bind_absent(
        &mut self,
        goroutine: GoId,
        thread: ThreadId,
        cx: Context,
    ) -> Result<Context, StateError> {
        match self.thread_place(thread).and_then(|place| self.threads.get(place)) {
            Some(entry) if entry.goroutine != goroutine => {
                Err(StateError::SyscallThreadDiffers(goroutine))
            }
            Some(_) => Ok(Context { thread, goroutine, ..cx }),
            None => {
                self.add_thread(ThreadEntry { thread, proc: ProcId::NONE, goroutine });
                Ok(Context { thread, ..cx })
            }
        }
    }

    pub(super) fn go_create(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        cx.require(Need::Must, Need::May)?;
        let creator = self.gos.get(&cx.goroutine);
        if creator.is_some_and(|creator| creator.status != GoStatus::Running) {
            return Err(StateError::WrongGoState(cx.goroutine));
        }
        let goroutine = GoId(input.arg(0) as i64);
        if self.gos.contains_key(&goroutine) {
            return Err(StateError::GoExists(goroutine));
        }
        let status = match input.raw.id {
            id::GO_CREATE_BLOCKED => GoStatus::Waiting,
            _ => GoStatus::Runnable,
        };
        self.gos.insert(goroutine, GoEntry::new(status, input.generation));
        let start = input.stack(input.arg(1));
        let kind = explained(goroutine, GoState::NotExist, status.state(), None, start);
        Ok(self.emit(input, cx, kind, cx))
    }

    pub(super) fn go_start(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        let goroutine = GoId(input.arg(0) as i64);
        let sequence = Sequence { generation: input.generation, number: input.arg(1) };
        let Some(entry) = self.gos.get_mut(&goroutine) else {
            return Ok(None);
        };
        if entry.status != GoStatus::Runnable || !sequence.follows(entry.sequence) {
            return Ok(None);
        }
        cx.require(Need::Must, Need::MustNot)?;
        entry.status = GoStatus::Running;
        entry.sequence = sequence;
        let kind = transition(goroutine, GoState::Runnable, GoState::Running);
        Ok(self.emit(input, cx, kind, Context { goroutine, ..cx }))
    }

    /// The goroutine that runs on the thread, which must be in the state `status`.
    pub(super) fn current_go(
        &mut self,
        cx: Context,
        status: GoStatus,
    ) -> Result<&mut GoEntry, StateError> {
        let entry = self.gos.get_mut(&cx.goroutine);
        let entry = entry.ok_or(StateError::UnknownGo(cx.goroutine))?;
        if entry.status != status {
            return Err(StateError::WrongGoState(cx.goroutine));
        }
        Ok(entry)
    }

    pub(super) fn go_stop(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        cx.require_running()?;
        let entry = self.current_go(cx, GoStatus::Running)?;
        let to = match input.raw.id {
            id::GO_STOP => {
                entry.status = GoStatus::Runnable;
                GoState::Runnable
            }
            id::GO_BLOCK => {
                entry.status = GoStatus::Waiting;
                GoState::Waiting
            }
            _ => {
                self.gos.remove(&cx.goroutine);
                GoState::NotExist
            }
        };
        let reason = (to != GoState::NotExist).then(|| input.string(0));
        let kind = explained(cx.goroutine, GoState::Running, to, reason, input.own_stack());
        Ok(self.emit(input, cx, kind, Context { goroutine: GoId::NONE, ..cx }))
    }

    pub(super) fn go_unblock(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        let goroutine = GoId(input.arg(0) as i64);
        let sequence = Sequence { generation: input.generation, number: input.arg(1) };
        let Some(entry) = self.gos.get_mut(&goroutine) else {
            return Ok(None);
        };
        if entry.status != GoStatus::Waiting || !sequence.follows(entry.sequence) {
            return Ok(None);
        }
        // Anything can unblock a goroutine, also a thread without a processor.
        entry.status = GoStatus::Runnable;
        entry.sequence = sequence;
        let kind = transition(goroutine, GoState::Waiting, GoState::Runnable);
        Ok(self.emit(input, cx, kind, cx))
    }

    /// A switch is three events in one: another goroutine is unblocked, this one blocks or ends,
    /// and the other starts in its place.
    pub(super) fn go_switch(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        cx.require_running()?;
        self.current_go(cx, GoStatus::Running)?;
        let next = GoId(input.arg(0) as i64);
        let sequence = Sequence { generation: input.generation, number: input.arg(1) };
        let Some(entry) = self.gos.get_mut(&next) else {
            return Ok(None);
        };
        if entry.status != GoStatus::Waiting || !sequence.follows(entry.sequence) {
            return Ok(None);
        }
        let time = input.raw.time;
        let unblock = transition(next, GoState::Waiting, GoState::Runnable);
        let after = self.emit(input, cx, unblock, Context { goroutine: next, ..cx });
        let to = if input.raw.id == id::GO_SWITCH {
            self.current_go(cx, GoStatus::Running)?.status = GoStatus::Waiting;
            GoState::Waiting
        } else {
            self.gos.remove(&cx.goroutine);
            GoState::NotExist
        };
        self.push(time, cx, None, transition(cx.goroutine, GoState::Running, to));
        if let Some(entry) = self.gos.get_mut(&next) {
            entry.status = GoStatus::Running;
            entry.sequence = sequence;
        }
        let start = transition(next, GoState::Runnable, GoState::Running);
        self.push(time, Context { goroutine: GoId::NONE, ..cx }, None, start);
        Ok(after)
    }
}
