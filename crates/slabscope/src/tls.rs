//! What belongs to a thread: its cache of slots, and where it stands in the safepoint's protocol.
//!
//! Constant-initialised and without a destructor, so that touching it neither allocates nor
//! registers anything. A thread's first operation finds the state NEW and enters the thread
//! into the registry; its end is caught by an [`exit`](crate::exit) hook, after which the state is
//! GONE and operations go through a cache that all such threads share.

use core::cell::{Cell, UnsafeCell};
use core::ptr::null;
use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

use slabscope_heap::{CLOSED, Front, ThreadCache};
use slabscope_os::thread::Handle;

use crate::session::{Declared, ThreadClock};
use crate::{protocol, safepoint};

pub(crate) use crate::protocol::{BUSY, IDLE};

/// Between states, holding or awaiting a lock of ours: an operation that interrupts this is served
/// apart, and the safepoint does not wait for it.
pub(crate) const CHANGING: u8 = 2;
/// No operation yet.
pub(crate) const NEW: u8 = 3;
/// The thread's end was announced; it may still run destructors.
pub(crate) const GONE: u8 = 4;

std::thread_local! {
    static THREAD: Thread = const { Thread::new() };
}

/// Runs `f` on the calling thread's state. `f` becomes part of the caller even where little is optimized:
/// each frame of ours takes one of those that a call stack may have.
#[inline(always)]
pub(crate) fn with<R>(f: impl FnOnce(&Thread) -> R) -> R {
    let thread = THREAD.with(core::ptr::from_ref);
    // SAFETY: it has no destructor and is this thread's, so it is there while `f` runs.
    f(unsafe { &*thread })
}

/// A thread's number in a trace, and which trace that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TraceNumber {
    /// The trace, counted from 1 over the life of the process; 0 for none.
    pub(crate) epoch: u32,
    /// The thread's number in it.
    pub(crate) number: u32,
}

/// One thread.
///
/// Invariants:
/// 1. `state` is written by the thread itself (and by the registry's owner in a forked child).
/// 2. All other fields are touched by the thread itself while `state` is BUSY or CHANGING, or by
///    whoever has stopped the world, while the thread is in the registry and not BUSY.
/// 3. `next` and `previous` are touched under the registry's lock only.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Thread {
    cache: UnsafeCell<ThreadCache>,
    /// One of the constants above; see `protocol`.
    state: AtomicU8,
    /// The cache's front, or the closed one: then every operation goes the long way and looks at the mode.
    lead: AtomicPtr<Front>,
    pub(crate) trace: Cell<TraceNumber>,
    /// Its part in the recorder's order. Atomic by itself: invariant 2 does not concern it.
    pub(crate) clock: ThreadClock,
    /// The type that its scope declares. As `clock`.
    pub(crate) declared: Declared,
    /// The trace that has an event saying this thread's stack exists.
    pub(crate) stack_epoch: Cell<u32>,
    /// Base and length of the stack, once asked for.
    pub(crate) stack: Cell<Option<(usize, usize)>>,
    pub(crate) handle: Cell<Option<Handle>>,
    pub(crate) next: Cell<*const Thread>,
    pub(crate) previous: Cell<*const Thread>,
}

// SAFETY: invariants 1 to 3 of `Thread`.
unsafe impl Sync for Thread {}

impl Thread {
    pub(crate) const fn new() -> Self {
        Thread {
            state: AtomicU8::new(NEW),
            cache: UnsafeCell::new(ThreadCache::new()),
            lead: AtomicPtr::new(closed()),
            trace: Cell::new(TraceNumber { epoch: 0, number: 0 }),
            clock: ThreadClock::new(),
            declared: Declared::new(),
            stack_epoch: Cell::new(0),
            stack: Cell::new(None),
            handle: Cell::new(None),
            next: Cell::new(null()),
            previous: Cell::new(null()),
        }
    }

    /// Enters an operation, if the thread is IDLE, and hands what serves it to `go`, if that has what is
    /// needed; else it goes the long way. Runs `rare` instead when the state is another, and does nothing.
    #[inline(always)]
    pub(crate) fn enter<R>(&self, go: impl FnOnce(&Front) -> R, rare: impl FnOnce() -> R) -> R {
        if self.state.load(Ordering::Relaxed) != IDLE {
            return rare();
        }
        protocol::enter(&self.state);
        // SAFETY: it leads to the closed front, a static, or to that of this thread's own cache, which
        // invariant 2 allows to touch now.
        go(unsafe { &*protocol::follow(&self.lead) })
    }

    /// The mode, for the thread that has entered an operation.
    #[inline(always)]
    pub(crate) fn look(&self) -> u8 {
        protocol::look(safepoint::MODE)
    }

    /// Stores BUSY, then loads the mode.
    #[inline(always)]
    pub(crate) fn mark_busy(&self) -> u8 {
        protocol::enter(&self.state);
        self.look()
    }

    /// Leads the thread to its own cache's front; for whoever has the registry's lock while no operation
    /// need look at the mode.
    pub(crate) fn open(&self) {
        // The front is the first field of the cache, and is reached by shared references only.
        protocol::lead_to(&self.lead, self.cache.get().cast());
    }

    /// Leads the thread to the closed front; see `protocol::request`.
    pub(crate) fn close(&self) {
        protocol::mislead(&self.lead, closed());
    }

    /// Leaves an operation.
    #[inline(always)]
    pub(crate) fn leave(&self) {
        protocol::leave(&self.state);
    }

    /// Goes to `state`; for the thread itself.
    pub(crate) fn set_state(&self, state: u8) {
        self.state.store(state, Ordering::Release);
    }

    /// Whether it is inside an operation, as somebody else sees it.
    pub(crate) fn is_inside(&self) -> bool {
        protocol::is_inside(&self.state)
    }

    /// The state, as somebody else or the thread itself sees it.
    pub(crate) fn state(&self) -> u8 {
        self.state.load(Ordering::Acquire)
    }

    /// The cache.
    ///
    /// # Safety
    /// Invariant 2 allows the caller to touch it, and no other reference to it is in use.
    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "invariant 2 makes the reference exclusive")]
    pub(crate) unsafe fn cache(&self) -> &mut ThreadCache {
        // SAFETY: passed on to the caller.
        unsafe { &mut *self.cache.get() }
    }
}

/// The front that is closed. Nobody writes through the pointer.
const fn closed() -> *mut Front {
    core::ptr::from_ref(CLOSED.front()).cast_mut()
}
