//! The state of Go's scheduler, replayed to check events and to put them in order.
//!
//! Clocks of threads disagree, so time alone does not order events. Those that depend on another
//! thread carry sequence numbers or need a certain state, and wait here until it is reached.
//! State outlives generations; sequence numbers start anew in each.
//!
//! The rules are those of Go's `internal/trace`: what it accepts is accepted here, in the same
//! order, and nothing else.

mod goroutines;
mod procs;
mod ranges;
mod states;
mod syscalls;
mod user;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use slabscope_wire::event::{ArgKind, id};

use crate::catalog::Catalog;
use crate::cursor::RawEvent;
use crate::error::{ErrorKind, StateError};
use crate::event::{Event, Kind};
use crate::experiment::ExperimentalEvent;
use crate::id::{GoId, ProcId, TaskId, ThreadId, Time};
use crate::stack::Stack;
use crate::tables::Tables;
use crate::text::Text;

use states::{GcState, GoEntry, ProcEntry, TaskEntry};

/// The state of the scheduler, and the events that have found their place.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// What each thread has. Entries are never removed, so their places can be remembered.
    threads: Vec<ThreadEntry>,
    thread_index: HashMap<ThreadId, usize>,
    procs: HashMap<ProcId, ProcEntry>,
    gos: HashMap<GoId, GoEntry>,
    tasks: HashMap<TaskId, TaskEntry>,
    gc_sequence: u64,
    gc_state: GcState,
    /// 0 until an event was seen.
    first_generation: u64,
    ready: VecDeque<Event>,
}

/// What a thread has.
#[derive(Clone, Copy, Debug)]
struct ThreadEntry {
    thread: ThreadId,
    proc: ProcId,
    goroutine: GoId,
}

/// The thread an event is on, and what that thread has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    pub(crate) thread: ThreadId,
    pub(crate) proc: ProcId,
    pub(crate) goroutine: GoId,
}

/// An event to be put in order, with what is needed to understand it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'t> {
    pub(crate) raw: &'t RawEvent,
    pub(crate) generation: u64,
    pub(crate) tables: &'t Arc<Tables>,
    pub(crate) catalog: &'static Catalog,
}

/// What came of an event: the thread's context after it, or `None` if it must wait for others.
type Outcome = Result<Option<Context>, StateError>;

/// Whether something may, must or must not be there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Must,
    May,
    MustNot,
}

impl Context {
    /// Checks that the event is on a thread that has what it needs.
    fn require(&self, proc: Need, goroutine: Need) -> Result<(), StateError> {
        if self.thread == ThreadId::NONE {
            return Err(StateError::NoThread);
        }
        match (proc, self.proc == ProcId::NONE) {
            (Need::Must, true) => return Err(StateError::NoProc),
            (Need::MustNot, false) => return Err(StateError::HasProc),
            _ => {}
        }
        match (goroutine, self.goroutine == GoId::NONE) {
            (Need::Must, true) => Err(StateError::NoGoroutine),
            (Need::MustNot, false) => Err(StateError::HasGoroutine),
            _ => Ok(()),
        }
    }

    /// Checks that the event is on a thread that runs a goroutine on a processor.
    fn require_running(&self) -> Result<(), StateError> {
        self.require(Need::Must, Need::Must)
    }
}

impl Input<'_> {
    fn arg(&self, index: usize) -> u64 {
        self.raw.args.get(index).copied().unwrap_or(0)
    }

    /// A string of the generation; [`Input::check_tables`] finds those that are missing.
    fn string(&self, index: usize) -> Text {
        let found = self.tables.string(self.arg(index));
        found.cloned().unwrap_or_else(|| Text::new(b""))
    }

    fn stack(&self, stack: u64) -> Option<Stack> {
        (stack != 0).then(|| Stack::new(Arc::clone(self.tables), stack))
    }

    /// The stack of the context the event is in.
    fn own_stack(&self) -> Option<Stack> {
        let args = self.catalog.spec(self.raw.id)?.args;
        let index = args.iter().position(|arg| arg.kind == ArgKind::Stack)?;
        self.stack(self.arg(index))
    }

    /// Whether the generation has all strings and stacks the event names.
    fn check_tables(&self) -> Result<(), ErrorKind> {
        let event = self.raw.id;
        let Some(spec) = self.catalog.spec(event) else {
            return Ok(());
        };
        for (arg, &number) in spec.args.iter().zip(&self.raw.args) {
            match arg.kind {
                ArgKind::Stack | ArgKind::OtherStack if !self.tables.has_stack(number) => {
                    return Err(ErrorKind::MissingStack { event, stack: number });
                }
                ArgKind::String if self.tables.string(number).is_none() => {
                    return Err(ErrorKind::MissingString { event, string: number });
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Order {
    /// The next event that has found its place.
    pub(crate) fn next(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }

    /// Tries to put the next event of `thread` in its place; `false` when it must wait for events
    /// of other threads. After `true`, [`Order::next`] has it.
    ///
    /// `state` keeps the thread's place in this order from one of its events to the next.
    pub(crate) fn advance(
        &mut self,
        input: &Input<'_>,
        thread: ThreadId,
        state: &mut Option<usize>,
    ) -> Result<bool, ErrorKind> {
        let cx = self.context(input.generation, thread, state);
        let event = input.raw.id;
        let outcome = self.dispatch(input, cx);
        let Some(after) = outcome.map_err(|error| ErrorKind::State { event, error })? else {
            return Ok(false);
        };
        if let Some(entry) = state.and_then(|place| self.threads.get_mut(place)) {
            entry.proc = after.proc;
            entry.goroutine = after.goroutine;
        }
        input.check_tables().map(|()| true)
    }

    /// What `thread` has, for its next event.
    #[inline]
    pub(crate) fn context(
        &mut self,
        generation: u64,
        thread: ThreadId,
        state: &mut Option<usize>,
    ) -> Context {
        let entry = match state.and_then(|place| self.threads.get(place)) {
            Some(entry) => *entry,
            None => self.enter(generation, thread, state),
        };
        Context { thread, proc: entry.proc, goroutine: entry.goroutine }
    }

    /// What a thread has that was not met in this generation before.
    #[cold]
    fn enter(
        &mut self,
        generation: u64,
        thread: ThreadId,
        state: &mut Option<usize>,
    ) -> ThreadEntry {
        if self.first_generation == 0 {
            self.first_generation = generation;
        }
        let nothing = ThreadEntry { thread, proc: ProcId::NONE, goroutine: GoId::NONE };
        if thread == ThreadId::NONE {
            return nothing;
        }
        let place = self.thread_place(thread).unwrap_or_else(|| self.add_thread(nothing));
        *state = Some(place);
        self.threads.get(place).copied().unwrap_or(nothing)
    }

    fn thread_place(&self, thread: ThreadId) -> Option<usize> {
        self.thread_index.get(&thread).copied()
    }

    fn add_thread(&mut self, entry: ThreadEntry) -> usize {
        self.threads.push(entry);
        self.thread_index.insert(entry.thread, self.threads.len() - 1);
        self.threads.len() - 1
    }

    fn dispatch(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        match input.raw.id {
            id::PROC_START => self.proc_start(input, cx),
            id::PROC_STOP => self.proc_stop(input, cx),
            id::PROC_STEAL => self.proc_steal(input, cx),
            id::PROC_STATUS => self.proc_status(input, cx),
            id::GO_CREATE | id::GO_CREATE_BLOCKED => self.go_create(input, cx),
            id::GO_CREATE_SYSCALL => self.go_create_syscall(input, cx),
            id::GO_START => self.go_start(input, cx),
            id::GO_DESTROY | id::GO_STOP | id::GO_BLOCK => self.go_stop(input, cx),
            id::GO_DESTROY_SYSCALL => self.go_destroy_syscall(input, cx),
            id::GO_UNBLOCK => self.go_unblock(input, cx),
            id::GO_SWITCH | id::GO_SWITCH_DESTROY => self.go_switch(input, cx),
            id::GO_SYSCALL_BEGIN => self.go_syscall_begin(input, cx),
            id::GO_SYSCALL_END => self.go_syscall_end(input, cx),
            id::GO_SYSCALL_END_BLOCKED => self.go_syscall_end_blocked(input, cx),
            id::GO_STATUS | id::GO_STATUS_STACK => self.go_status(input, cx),
            id::STW_BEGIN | id::GC_MARK_ASSIST_BEGIN => self.go_range_begin(input, cx),
            id::STW_END | id::GC_MARK_ASSIST_END => self.go_range_end(input, cx),
            id::GC_MARK_ASSIST_ACTIVE => self.go_range_active(input, cx),
            id::GC_ACTIVE => self.gc_active(input, cx),
            id::GC_BEGIN => self.gc_begin(input, cx),
            id::GC_END => self.gc_end(input, cx),
            id::GC_SWEEP_ACTIVE => self.sweep_active(input, cx),
            id::GC_SWEEP_BEGIN => self.sweep_begin(input, cx),
            id::GC_SWEEP_END => self.sweep_end(input, cx),
            id::PROCS_CHANGE | id::HEAP_ALLOC | id::HEAP_GOAL => self.metric(input, cx),
            id::GO_LABEL => self.label(input, cx),
            id::USER_TASK_BEGIN => self.task_begin(input, cx),
            id::USER_TASK_END => self.task_end(input, cx),
            id::USER_REGION_BEGIN => self.region_begin(input, cx),
            id::USER_REGION_END => self.region_end(input, cx),
            id::USER_LOG => self.log(input, cx),
            event => match input.catalog.row(event) {
                Some(row) if row.spec.is_experimental() => {
                    cx.require(Need::May, Need::May)?;
                    let event = ExperimentalEvent::known(row, input.raw.args);
                    Ok(self.emit(input, cx, Kind::Experimental(event), cx))
                }
                _ => Err(StateError::NoOrder),
            },
        }
    }

    /// Makes the event ready, in the context `cx`; `after` is what its thread has from now on.
    fn emit(
        &mut self,
        input: &Input<'_>,
        cx: Context,
        kind: Kind,
        after: Context,
    ) -> Option<Context> {
        self.push(input.raw.time, cx, input.own_stack(), kind);
        Some(after)
    }

    fn push(&mut self, time: Time, cx: Context, stack: Option<Stack>, kind: Kind) {
        let Context { thread, proc, goroutine } = cx;
        self.ready.push_back(Event { time, thread, proc, goroutine, stack, kind });
    }
}
