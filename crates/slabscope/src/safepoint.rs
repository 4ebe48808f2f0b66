//! Stopping the world: making a change that every operation sees wholly or not at all.
//!
//! An operation stores BUSY in its thread's state, then loads which front it is led to. Whoever stops the
//! world sets the mode's STOP bit, leads all threads in the registry to the closed front, has every CPU pass
//! a memory barrier (`membarrier`), and waits until none of them is BUSY. An operation that finds its front
//! closed, or that a front cannot do, loads the mode; at STOP it goes back to IDLE and waits at the door. From
//! then on nobody is inside an operation and nobody enters one. The idea of letting the rare side
//! pay for the fence is that of the kernel's membarrier(2) and of Java's safepoints.
//!
//! An operation that interrupts another of its thread cannot go back, so it waits for nothing and goes apart
//! (`door`). It is counted, and waited for after the others. One that finds the world standing still has
//! interrupted nothing that was waited for: a thread on its way to the door. It waits there too.
//!
//! No operation waits for the one who stops the world, for a ring's room or for a lock that such a
//! waiter holds, so the wait ends.

use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, Ordering};
use core::time::Duration;

use slabscope_os::lock::{Guard, Lock};
use slabscope_os::signal::Blocked;
use slabscope_os::{cpu, futex};

#[cfg(feature = "recorder")]
use crate::own_page;
use crate::protocol;
use crate::tls::{self, CHANGING, Thread};

/// Operations wait at the door.
pub(crate) const STOP: u8 = 1;
/// Operations emit events.
pub(crate) const TRACING: u8 = 2;
/// The world is stopped for a fork: see `door::InFork`.
pub(crate) const FORK: u8 = 4;
/// With STOP: nobody is inside an operation any more.
const STILL: u8 = 8;

/// These bits, or 0. Written by whoever has stopped or is stopping the world; see `protocol`.
#[cfg(feature = "recorder")]
pub(crate) const MODE: &AtomicU8 = &own_page::PAGE.mode;

/// As above.
#[cfg(not(feature = "recorder"))]
pub(crate) static MODE: &AtomicU8 = {
    static STOPPED: AtomicU8 = AtomicU8::new(0);
    &STOPPED
};

/// How many operations are under way apart.
#[cfg(feature = "recorder")]
const APART: &AtomicU32 = &own_page::PAGE.apart;

/// As above.
#[cfg(not(feature = "recorder"))]
static APART: &AtomicU32 = {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    &COUNT
};

/// The thread that has stopped the world.
static STOPPER: AtomicPtr<Thread> = AtomicPtr::new(null_mut());

/// Changes whenever the door opens; those who wait at it sleep on this.
static DOOR: AtomicU32 = AtomicU32::new(0);

/// All threads that have allocated and not ended, newest first.
static REGISTRY: Lock<Registry> = Lock::new(Registry { head: null() });

/// A bound on one sleep, so that a lost wake-up costs time and not the program.
const SLEEP_MAX: Duration = Duration::from_millis(10);

/// As [`SLEEP_MAX`] while the world is stopped for a fork: much shorter than the time between two
/// signals, or the thread that they interrupt would never get on.
const SLEEP_IN_FORK: Duration = Duration::from_micros(200);

/// How often to look whether a thread has left its operation before sleeping in between.
const LOOKS: u32 = 100;

/// How long to sleep between two looks.
const LOOK_PAUSE: Duration = Duration::from_micros(50);

/// The list of threads.
#[derive(Debug)]
pub(crate) struct Registry {
    head: *const Thread,
}

// SAFETY: the pointers lead to threads that take themselves out before they end; invariant 3 of
// `Thread` makes the lock guard the links.
unsafe impl Send for Registry {}

impl Registry {
    /// Puts a thread in.
    pub(crate) fn insert(&mut self, thread: &Thread) {
        thread.next.set(self.head);
        thread.previous.set(null());
        // SAFETY: a thread in the list lives until it is taken out, and the lock is held.
        if let Some(head) = unsafe { self.head.as_ref() } {
            head.previous.set(thread);
        }
        self.head = thread;
        // Whoever stops the world has the lock, so either it stands still already and the bit is seen, or
        // it finds the thread here.
        if mode() == 0 {
            thread.open();
        }
    }

    /// Takes a thread out.
    pub(crate) fn remove(&mut self, thread: &Thread) {
        // SAFETY: as in `insert`, for both neighbours.
        let (next, previous) =
            unsafe { (thread.next.get().as_ref(), thread.previous.get().as_ref()) };
        match previous {
            Some(previous) => previous.next.set(thread.next.get()),
            None => self.head = thread.next.get(),
        }
        if let Some(next) = next {
            next.previous.set(thread.previous.get());
        }
    }

    /// All threads.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Thread> {
        // SAFETY: as in `insert`; the borrow keeps the lock held.
        let first = unsafe { self.head.as_ref() };
        core::iter::successors(first, |thread| {
            // SAFETY: as above.
            unsafe { thread.next.get().as_ref() }
        })
    }

    /// Empties the list.
    pub(crate) fn clear(&mut self) {
        self.head = null();
    }
}

/// The mode, as an operation sees it.
#[inline(always)]
pub(crate) fn mode() -> u8 {
    MODE.load(Ordering::Relaxed)
}

/// The registry. The caller's state is CHANGING meanwhile.
pub(crate) fn registry() -> Guard<'static, Registry> {
    REGISTRY.lock()
}

/// As [`registry`], for a caller that a fork may be waiting for: `None` if a fork has it, beyond a moment's
/// wait (`door::InFork`).
pub(crate) fn registry_unless_in_fork() -> Option<Guard<'static, Registry>> {
    let mut has_waited = false;
    loop {
        if let Some(registry) = REGISTRY.try_lock() {
            return Some(registry);
        }
        if mode() & FORK == 0 {
            futex::wait(&DOOR, DOOR.load(Ordering::Relaxed), LOOK_PAUSE);
        } else if has_waited {
            return None;
        } else {
            wait_at_door();
            has_waited = true;
        }
    }
}

/// Waits until the door opens, or for a moment; the caller is outside every operation.
#[cold]
pub(crate) fn wait_at_door() {
    let seen = DOOR.load(Ordering::Relaxed);
    let mode = mode();
    if mode & STOP != 0 {
        let longest = if mode & FORK == 0 { SLEEP_MAX } else { SLEEP_IN_FORK };
        futex::wait(&DOOR, seen, longest);
    }
}

/// The world, stopped. It goes on when this is dropped.
#[derive(Debug)]
pub(crate) struct World {
    registry: Guard<'static, Registry>,
    /// The state of the thread that stopped it: IDLE, or GONE in a late destructor, or BUSY in a
    /// signal handler that exits.
    before: u8,
    /// A signal handler of this thread would wait at a door that only this thread opens, or be
    /// neither in a snapshot nor after it.
    _signals: Blocked,
}

/// Stops the world. The calling thread must be registered and outside every operation; until the
/// world goes on it may not allocate, and what interrupts it is served apart.
pub(crate) fn stop() -> World {
    stop_for(u32::MAX)
}

/// As [`stop`], but waits so many milliseconds at most for operations under way apart: one may be this
/// thread's own, interrupted for ever.
pub(crate) fn stop_for(millis: u32) -> World {
    let world = stop_as(STOP);
    protocol::stand_still(MODE, STILL);
    for _ in 0..millis {
        if protocol::is_nobody_apart(APART) {
            break;
        }
        futex::wait(&DOOR, DOOR.load(Ordering::Relaxed), Duration::from_millis(1));
    }
    world
}

/// As [`stop`], for a fork: see `door::InFork`. Who goes apart is not waited for, since a lock that the fork
/// will ask for may be his.
pub(crate) fn stop_for_fork() -> World {
    stop_as(STOP | FORK)
}

/// An operation of `thread` goes apart, as soon as it may. What it does is over before
/// [`come_back`].
pub(crate) fn go_apart(thread: &Thread) {
    let bars = |mode| mode & STILL != 0 && !core::ptr::eq(STOPPER.load(Ordering::Relaxed), thread);
    while !protocol::go_apart(MODE, APART, bars) {
        wait_at_door();
    }
}

/// See [`go_apart`].
pub(crate) fn come_back() {
    protocol::come_back(APART);
}

/// For the only thread of a forked child: nobody is apart.
pub(crate) fn reset_after_fork() {
    APART.store(0, Ordering::Relaxed);
}

fn stop_as(bits: u8) -> World {
    let signals = Blocked::new();
    let (before, stopper) = tls::with(|thread| {
        let before = thread.state();
        thread.set_state(CHANGING);
        (before, core::ptr::from_ref(thread).cast_mut())
    });
    let registry = REGISTRY.lock();
    STOPPER.store(stopper, Ordering::Relaxed);
    protocol::request(MODE, bits, || registry.iter().for_each(Thread::close));
    for thread in registry.iter() {
        let mut looks = 0_u32;
        while thread.is_inside() {
            looks += 1;
            if looks < LOOKS {
                cpu::give_way();
            } else {
                futex::wait(&DOOR, DOOR.load(Ordering::Relaxed), LOOK_PAUSE);
            }
        }
    }
    World { registry, before, _signals: signals }
}

impl World {
    /// From when it goes on, operations emit events, or do not.
    pub(crate) fn set_tracing(&self, tracing: bool) {
        if tracing {
            MODE.fetch_or(TRACING, Ordering::Relaxed);
        } else {
            MODE.fetch_and(!TRACING, Ordering::Relaxed);
        }
    }

    /// The threads, none of them inside an operation.
    pub(crate) fn threads(&self) -> impl Iterator<Item = &Thread> {
        self.registry.iter()
    }

    /// Takes a thread out of the registry.
    pub(crate) fn forget(&mut self, thread: &Thread) {
        self.registry.remove(thread);
    }

    /// For the only thread of a forked child: forgets all other threads.
    pub(crate) fn keep_only(&mut self, thread: &Thread, late: &Thread) {
        self.registry.clear();
        self.registry.insert(late);
        self.registry.insert(thread);
    }
}

impl Drop for World {
    fn drop(&mut self) {
        STOPPER.store(null_mut(), Ordering::Relaxed);
        protocol::open(MODE, STOP | FORK | STILL);
        if mode() == 0 {
            self.registry.iter().for_each(Thread::open);
        }
        DOOR.fetch_add(1, Ordering::Relaxed);
        futex::wake(&DOOR, i32::MAX);
        tls::with(|thread| thread.set_state(self.before));
    }
}
