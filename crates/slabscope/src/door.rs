//! The way into an operation when it cannot simply go ahead: the thread is new, gone or interrupted,
//! the world is stopped, or a trace is being made.

use slabscope_heap::ThreadCache;
use slabscope_os::lock::Lock;

use crate::exit;
use crate::safepoint::{self, FORK, STOP, TRACING};
use crate::session::{self, AtOnce, Emitter};
use crate::tls::{self, BUSY, CHANGING, GONE, IDLE, NEW, Thread};

/// How an operation may go ahead.
pub(crate) enum Access<'a, 'e> {
    /// With the thread's cache, and no events.
    Plain(&'a mut ThreadCache),
    /// With the thread's cache, and events.
    Traced(&'a mut ThreadCache, &'a mut Emitter<'e>),
    /// It interrupted another operation of its thread: without a cache or a lock, and with events
    /// if a trace is being made.
    Reentrant(Option<&'a mut Emitter<'e>>),
}

/// What an operation does that finds the world stopped for a fork, beyond a moment's wait.
///
/// Its thread may have been interrupted inside the C library, with a lock that `fork` is waiting for,
/// by the signal handler that allocates now: so the fork would wait for the one who waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InFork {
    /// It waits on: it is nothing that a handler does.
    Waits,
    /// It goes ahead as one that interrupted another, which needs no lock of ours.
    GoesApart,
}

/// The thread whose cache serves those that are gone; whoever uses it holds [`LATE_LOCK`].
pub(crate) static LATE: Thread = Thread::new();

/// See [`LATE`].
static LATE_LOCK: Lock<()> = Lock::new(());

/// Runs `operation` once, as an operation of the calling thread.
pub(crate) fn operation<R>(operation: impl FnOnce(Access<'_, '_>) -> R) -> R {
    tls::with(|thread| pass(thread, thread.state(), InFork::Waits, operation))
}

/// Runs `operation` if nothing stands in the way of going ahead at once but that a trace is being made,
/// which knows the thread. The thread was IDLE and has entered an operation, and found this mode.
#[inline(always)]
pub(crate) fn traced_at_once<R>(
    thread: &Thread,
    mode: u8,
    operation: impl FnOnce(&mut ThreadCache, &mut Emitter<'_>) -> R,
) -> Option<R> {
    if mode != TRACING {
        return None;
    }
    let mut emitter = session::emitter_at_once(thread)?;
    // SAFETY: the thread is BUSY and its own (invariant 2); the reference is handed to `operation` only.
    let result = operation(unsafe { thread.cache() }, &mut emitter);
    let pressed = emitter.pressed();
    thread.leave();
    wait_if(pressed);
    Some(result)
}

/// What records an event of the thread at once, where nothing stands in the way as for [`traced_at_once`].
#[inline(always)]
pub(crate) fn at_once(thread: &Thread, mode: u8) -> Option<AtOnce<'_>> {
    if mode == TRACING { session::at_once(thread) } else { None }
}

/// Runs `operation` once, as soon as it may go ahead. `before` is the state the thread was in, and it is so
/// again when this returns (NEW becomes IDLE). It may have gone from IDLE to BUSY since.
#[cold]
#[inline(never)]
pub(crate) fn pass<R>(
    thread: &Thread,
    before: u8,
    in_fork: InFork,
    operation: impl FnOnce(Access<'_, '_>) -> R,
) -> R {
    match before {
        BUSY => apart(thread, operation),
        CHANGING => {
            thread.set_state(CHANGING);
            apart(thread, operation)
        }
        GONE => {
            thread.set_state(CHANGING);
            let guard = LATE_LOCK.lock();
            let (result, pressed) = go_ahead(&LATE, thread, in_fork, operation);
            drop(guard);
            thread.set_state(GONE);
            wait_if(pressed);
            result
        }
        _ => {
            if before == NEW {
                if !exit::register(thread, in_fork) {
                    return apart(thread, operation);
                }
                session::at_first_use();
            }
            thread.set_state(IDLE);
            let (result, pressed) = go_ahead(thread, thread, in_fork, operation);
            wait_if(pressed);
            result
        }
    }
}

/// Runs `operation` without a cache or a lock. That it is counted keeps the session alive.
fn apart<R>(thread: &Thread, operation: impl FnOnce(Access<'_, '_>) -> R) -> R {
    safepoint::go_apart(thread);
    let mut emitter = session::current().map(|session| {
        let number = session::number_if_known(thread.trace.get());
        Emitter::reentrant(session, number, &thread.clock, &thread.declared)
    });
    let result = operation(Access::Reentrant(emitter.as_mut()));
    safepoint::come_back();
    result
}

/// For the only thread of a forked child: nobody holds the lock.
///
/// # Safety
/// The calling thread is the only one, and not inside an operation of a thread that is gone.
pub(crate) unsafe fn reset_after_fork() {
    // SAFETY: passed on to the caller.
    unsafe { LATE_LOCK.reset() };
    LATE.set_state(IDLE);
    safepoint::reset_after_fork();
}

/// Runs `operation` on the cache of `thread`, whose state is IDLE, as an operation of `caller`; returns
/// also whether its ring is pressed.
fn go_ahead<R>(
    thread: &Thread,
    caller: &Thread,
    in_fork: InFork,
    operation: impl FnOnce(Access<'_, '_>) -> R,
) -> (R, bool) {
    let mut has_waited = false;
    loop {
        let mode = thread.mark_busy();
        if mode & STOP != 0 {
            let may_go = mode & FORK != 0 && in_fork == InFork::GoesApart;
            if may_go && has_waited {
                // BUSY, so whoever stops the world next waits for it; the fork needs no more than
                // that nobody holds a lock.
                let result = apart(caller, operation);
                thread.leave();
                return (result, false);
            }
            thread.leave();
            safepoint::wait_at_door();
            has_waited = true;
            continue;
        }
        // SAFETY: the thread is BUSY and its own, or LATE under its lock (invariant 2); the reference
        // is handed to `operation` only.
        let cache = unsafe { thread.cache() };
        let traced = (mode & TRACING != 0).then(session::current).flatten();
        let done = match traced {
            Some(session) => {
                let mut emitter = session::emitter(session, thread, caller);
                if !core::ptr::eq(thread, caller) {
                    emitter = emitter.hastily();
                }
                (operation(Access::Traced(cache, &mut emitter)), emitter.pressed())
            }
            None => (operation(Access::Plain(cache)), false),
        };
        thread.leave();
        return done;
    }
}

/// Lets the drainer catch up, now that the operation is over.
fn wait_if(pressed: bool) {
    if pressed {
        session::wait_for_room();
    }
}
