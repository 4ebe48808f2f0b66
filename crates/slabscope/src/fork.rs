//! Fork: the parent goes on as if nothing had been; the child has no trace, and a whole heap.
//!
//! The world is stopped over the fork, so no lock of the heap is held and no operation half done when
//! the child's copy is made. `vfork` and `posix_spawn` do not come through here; their child only
//! runs `exec`.

use core::cell::UnsafeCell;

use slabscope_os::{barrier, fork};

use crate::door::InFork;
use crate::safepoint::{self, World};
use crate::session::{self, Running};
use crate::tls::{self, IDLE};
use crate::{HEAP, door, exit};
use slabscope_os::lock::Guard;

/// What `prepare` holds until the fork is over.
struct Held {
    /// Taken first and given back last, as everywhere.
    running: Guard<'static, Option<Running>>,
    world: World,
}

struct Slot(UnsafeCell<Option<Held>>);

// SAFETY: only the thread that stopped the world touches it, between `prepare` and what follows.
unsafe impl Sync for Slot {}

static HELD: Slot = Slot(UnsafeCell::new(None));

/// Asks to be told of forks. May call the C allocator.
pub(crate) fn watch() {
    // Without memory for it a child that allocates may find the heap half changed; nothing else
    // can be done about it here.
    let _ = fork::at_fork(prepare, parent, child);
}

unsafe extern "C" fn prepare() {
    register_caller();
    let running = session::lock_running();
    let world = safepoint::stop_for_fork();
    // SAFETY: the world is stopped by this thread, see `Slot`.
    unsafe { *HELD.0.get() = Some(Held { running, world }) };
}

unsafe extern "C" fn parent() {
    // SAFETY: as in `prepare`, which ran before on this thread.
    if let Some(held) = unsafe { (*HELD.0.get()).take() } {
        drop(held.world);
        drop(held.running);
    }
}

unsafe extern "C" fn child() {
    // SAFETY: as in `prepare`; this is the only thread.
    let Some(mut held) = (unsafe { (*HELD.0.get()).take() }) else { return };
    barrier::prepare();
    held.world.set_tracing(false);
    session::forget(&mut held.running);
    tls::with(|thread| {
        for other in held.world.threads().filter(|&other| !core::ptr::eq(other, thread)) {
            // SAFETY: the world is stopped, and the other thread does not exist here; its state lies
            // in memory that the C library keeps (invariant 2).
            HEAP.flush(unsafe { other.cache() }, &mut ());
        }
        held.world.keep_only(thread, &door::LATE);
        // SAFETY: this is the only thread, and it is in `fork`.
        unsafe { door::reset_after_fork() };
        // SAFETY: as above; it walks no stack.
        unsafe { session::reset_after_fork() };
    });
    let follow = session::is_to_follow();
    if follow {
        tls::with(|thread| held.world.forget(thread));
    }
    drop(held.world);
    drop(held.running);
    if follow {
        // Its next operation is as its first: it enters the thread, and begins a trace.
        tls::with(|thread| thread.set_state(tls::NEW));
    }
}

/// A thread may fork before it ever allocates.
pub(crate) fn register_caller() {
    tls::with(|thread| {
        if thread.state() == tls::NEW {
            exit::register(thread, InFork::Waits);
            thread.set_state(IDLE);
        }
    });
}
