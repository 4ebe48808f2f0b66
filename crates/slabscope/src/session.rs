//! The trace being made, if there is one: beginning it, ending it, finding it.

use core::ffi::CStr;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use core::time::Duration;

use slabscope_os::cpu;
use slabscope_os::lock::{Guard, Lock};
use slabscope_record::{
    Config, EndReason, Policy, RecorderMemory, Session, Signal, StartError, Summary,
};
use slabscope_wire::alloc_free::{STACK_ALIGN, stack_order};

pub(crate) use crate::caller::Caller;
use crate::tls::{Thread, TraceNumber};
pub(crate) use crate::trace::{at_first_use, is_to_follow};
use crate::{HEAP, caller, exit, fork, own_page, safepoint, snapshot};

pub(crate) use slabscope_record::{AtOnce, Declared, Emitter, Outer, Running, ThreadClock};

/// How threads and drainer wait for each other; one for all traces of the process.
pub(crate) static SIGNAL: Signal = Signal::new();

/// See [`own_page`].
const SESSION: &AtomicPtr<Session> = &own_page::PAGE.session;

/// Which trace of the process that is, from 1. Written while the world is stopped.
static EPOCH: AtomicU32 = AtomicU32::new(0);

/// The trace that is running. Whoever holds the lock may begin or end one; it is taken before the
/// world is stopped.
static RUNNING: Lock<Option<Running>> = Lock::new(None);

/// How long the end of the process waits for somebody who is beginning or ending a trace, or for an
/// operation under way, in milliseconds: it may be this thread's own, interrupted for ever.
const EXIT_PATIENCE: u32 = 1_000;

/// Why a trace did not begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// One is running.
    Running,
    /// The recorder could not.
    Recorder(StartError),
}

/// What to write and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    /// The file.
    pub(crate) path: &'a CStr,
    /// The variable's text, for the trace to show.
    pub(crate) options: &'a str,
    /// What was chosen.
    pub(crate) policy: Policy,
}

/// Begins a trace: everything that exists at one moment, and every event after it.
pub(crate) fn start(request: Request<'_>) -> Result<(), Refusal> {
    fork::register_caller();
    own_page::protect();
    let mut running = RUNNING.lock();
    forget_if_inherited(&mut running);
    if running.is_some() {
        return Err(Refusal::Running);
    }
    if !HEAP.init() {
        return Err(Refusal::Recorder(StartError::Memory));
    }
    let config = Config {
        path: request.path,
        heap_base: HEAP.base() as u64,
        options: request.options,
        writer: concat!("slabscope ", env!("CARGO_PKG_VERSION")),
        policy: request.policy,
        unwinder: &caller::UNWINDER,
    };
    let started = Running::start(config, &SIGNAL).map_err(Refusal::Recorder)?;
    let world = safepoint::stop();
    let epoch = EPOCH.fetch_add(1, Ordering::Relaxed) + 1;
    // SAFETY: the session lives until `finish`, which needs the lock we hold.
    let session = unsafe { started.session().as_ref() };
    if !snapshot::write(&world, session, epoch) {
        drop(world);
        // SAFETY: the session was never published, so nobody but us knows it.
        unsafe { started.finish(EndReason::Stopped) };
        return Err(Refusal::Recorder(StartError::Memory));
    }
    SESSION.store(started.session().as_ptr(), Ordering::SeqCst);
    world.set_tracing(true);
    drop(world);
    *running = Some(started);
    drop(running);
    exit::watch_process();
    Ok(())
}

/// Ends the trace, if one is running: no event after this, and all before it are in the file.
pub(crate) fn stop(reason: EndReason) -> Option<Summary> {
    fork::register_caller();
    let mut running = match reason {
        EndReason::Exited => lock_for_exit()?,
        _ => RUNNING.lock(),
    };
    forget_if_inherited(&mut running);
    let ended = running.take()?;
    let patience = if reason == EndReason::Exited { EXIT_PATIENCE } else { u32::MAX };
    let world = safepoint::stop_for(patience);
    world.set_tracing(false);
    SESSION.store(null_mut(), Ordering::SeqCst);
    drop(world);
    // SAFETY: the world was stopped with no operation under way, and since then none finds the
    // session. `take` makes this the only call.
    Some(unsafe { ended.finish(reason) })
}

/// At exit the lock may be held by a thread that is stuck, or by this one, if a signal handler exits
/// from the middle of a start: the trace is then left as it is.
fn lock_for_exit() -> Option<Guard<'static, Option<Running>>> {
    for _ in 0..EXIT_PATIENCE {
        if let Some(guard) = RUNNING.try_lock() {
            return Some(guard);
        }
        slabscope_os::futex::wait(&AtomicU32::new(0), 0, Duration::from_millis(1));
        cpu::give_way();
    }
    None
}

/// What memory the recorder has, if it makes a trace.
pub(crate) fn memory() -> Option<RecorderMemory> {
    let mut running = RUNNING.lock();
    forget_if_inherited(&mut running);
    running.as_ref().map(Running::memory)
}

/// Whether a trace is running.
pub(crate) fn is_running() -> bool {
    !SESSION.load(Ordering::SeqCst).is_null()
}

/// The lock that keeps traces from beginning and ending.
pub(crate) fn lock_running() -> Guard<'static, Option<Running>> {
    RUNNING.lock()
}

/// A child that was made without hooks has what its parent knew of the trace, and not the trace.
fn forget_if_inherited(running: &mut Option<Running>) {
    if !is_running() {
        forget(running);
    }
}

/// In a forked child: there is no trace. Its memory stays mapped, since the drainer's stack cannot be
/// waited for; the file is closed.
pub(crate) fn forget(running: &mut Option<Running>) {
    SESSION.store(null_mut(), Ordering::SeqCst);
    if let Some(running) = running.take() {
        running.forget_after_fork();
    }
}

/// For the only thread of a forked child.
///
/// # Safety
/// The calling thread is the only one, and walks no stack.
pub(crate) unsafe fn reset_after_fork() {
    // SAFETY: passed on to the caller.
    unsafe { caller::UNWINDER.reset_after_fork() };
}

/// Lets the drainer catch up, outside every operation.
pub(crate) fn wait_for_room() {
    SIGNAL.wait_for_room();
}

/// The session, for an operation that is under way.
#[inline]
pub(crate) fn current() -> Option<&'static Session> {
    // SAFETY: it was published whole, and is taken back while the world stands still, before it ends; an
    // operation under way delays that, and none keeps the reference beyond itself.
    unsafe { SESSION.load(Ordering::SeqCst).as_ref() }
}

/// The thread's number in the current trace; 0, nobody in particular, if it has none.
pub(crate) fn number_if_known(trace: TraceNumber) -> u32 {
    if trace.epoch == EPOCH.load(Ordering::Relaxed) { trace.number } else { 0 }
}

/// The emitter for an operation of `caller`, which `thread`'s cache serves. A thread that is new to the
/// trace is entered first, and its stack announced.
#[inline]
pub(crate) fn emitter<'a>(
    session: &'a Session,
    thread: &Thread,
    caller: &'a Thread,
) -> Emitter<'a> {
    let epoch = EPOCH.load(Ordering::Relaxed);
    let trace = caller.trace.get();
    if trace.epoch == epoch {
        return Emitter::new(session, trace.number, &caller.clock, &caller.declared);
    }
    enter_slow(session, thread, caller, epoch)
}

#[cold]
#[inline(never)]
fn enter_slow<'a>(
    session: &'a Session,
    thread: &Thread,
    caller: &'a Thread,
    epoch: u32,
) -> Emitter<'a> {
    let mut emitter = enter(session, caller, epoch);
    if thread.stack_epoch.get() != epoch
        && let Some((id, order)) = stack_of(thread)
    {
        thread.stack_epoch.set(epoch);
        emitter.stack_alloc(id, order);
    }
    emitter
}

/// Enters a thread into the trace.
pub(crate) fn enter<'a>(session: &'a Session, thread: &'a Thread, epoch: u32) -> Emitter<'a> {
    let number = session.enter_thread();
    // What it remembers is of the trace before.
    thread.clock.reset();
    thread.trace.set(TraceNumber { epoch, number });
    Emitter::new(session, number, &thread.clock, &thread.declared)
}

/// The emitter for an operation of a thread that the trace knows already; `None` for another.
#[inline]
pub(crate) fn emitter_at_once(thread: &Thread) -> Option<Emitter<'_>> {
    let (session, number) = known(thread)?;
    Some(Emitter::new(session, number, &thread.clock, &thread.declared))
}

/// As [`emitter_at_once`], for an event that may be recorded without one.
#[inline(always)]
pub(crate) fn at_once(thread: &Thread) -> Option<AtOnce<'_>> {
    let (session, number) = known(thread)?;
    Some(AtOnce::new(session, number, &thread.clock))
}

/// The trace, and the thread's number in it; `None` for a thread that it does not know.
#[inline(always)]
fn known(thread: &Thread) -> Option<(&'static Session, u32)> {
    let trace = thread.trace.get();
    if trace.epoch != EPOCH.load(Ordering::Relaxed) {
        return None;
    }
    Some((current()?, trace.number))
}

/// Emits that the thread's stack is about to go, and notes its end.
pub(crate) fn emit_thread_end(emitter: &mut Emitter<'_>, thread: &Thread) {
    let epoch = EPOCH.load(Ordering::Relaxed);
    if thread.stack_epoch.get() == epoch
        && let Some((id, _)) = stack_of(thread)
    {
        emitter.stack_free(id);
        thread.stack_epoch.set(0);
    }
    if let Some(session) = current() {
        session.leave_thread(number_if_known(thread.trace.get()));
    }
}

/// Id and order of a thread's stack; `None` when it cannot be found, for one of the heap's, which has
/// events of its own, or for the cache of those that are gone.
pub(crate) fn stack_of(thread: &Thread) -> Option<(u64, u64)> {
    if thread.stack.get().is_none() {
        // SAFETY: a thread in the registry takes itself out before it ends, and either it is the
        // calling thread or the world is stopped.
        thread.stack.set(unsafe { thread.handle.get()?.stack() });
    }
    let (base, len) = thread.stack.get()?;
    if HEAP.contains(base) {
        return None;
    }
    let id = (base as u64).wrapping_sub(HEAP.base() as u64) / STACK_ALIGN;
    // Stacks made by others may have any length; an order says a power of two.
    Some((id, stack_order((len as u64).next_power_of_two())))
}
