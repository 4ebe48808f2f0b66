//! Threads come and go: entering the registry at the first operation, leaving it at the end; and the
//! end of the process.

use core::ffi::c_void;
use core::num::NonZeroUsize;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, Ordering};

use once_cell::race::OnceNonZeroUsize;
use slabscope_os::barrier;
#[cfg(feature = "recorder")]
use slabscope_os::process;
use slabscope_os::thread::{ExitHook, Handle};
#[cfg(feature = "recorder")]
use slabscope_record::EndReason;

use crate::door::{self, Access, InFork, LATE};
use crate::tls::{CHANGING, GONE, IDLE, NEW, Thread};
use crate::{HEAP, fork, safepoint, session};

/// The hook that runs when a thread ends, as its number plus 1. First wins: `race` neither blocks nor
/// calls back, as a lock in a signal handler might.
static HOOK: OnceNonZeroUsize = OnceNonZeroUsize::new();

/// Whether what the process needs once was done.
static PREPARED: AtomicBool = AtomicBool::new(false);

/// Enters the calling thread into the registry. Its state is CHANGING meanwhile and IDLE afterwards. If
/// it goes apart in a fork and one has the registry, it stays NEW, and this returns `false`.
///
/// What may call back into the allocator (the C library remembering a hook) comes last, when the
/// thread can be served.
pub(crate) fn register(thread: &Thread, in_fork: InFork) -> bool {
    thread.set_state(CHANGING);
    let found = match in_fork {
        InFork::Waits => Some(safepoint::registry()),
        InFork::GoesApart => safepoint::registry_unless_in_fork(),
    };
    let Some(mut registry) = found else {
        thread.set_state(NEW);
        return false;
    };
    thread.handle.set(Some(Handle::current()));
    let first = !PREPARED.swap(true, Ordering::Relaxed);
    if first {
        barrier::prepare();
        LATE.set_state(IDLE);
        registry.insert(&LATE);
    }
    registry.insert(thread);
    drop(registry);
    thread.set_state(IDLE);
    if first {
        fork::watch();
    }
    if let Some(hook) = hook() {
        // Without memory for it the thread's cache is lost at its end, a few pages at most.
        let _ = hook.arm(NonNull::from(thread).cast());
    }
    true
}

fn hook() -> Option<ExitHook> {
    let made = HOOK.get_or_try_init(|| {
        let hook = ExitHook::new(on_thread_exit).ok_or(())?;
        NonZeroUsize::new(hook.number() as usize + 1).ok_or(())
    });
    Some(ExitHook::from_number((made.ok()?.get() - 1) as u32))
}

/// Gives the ending thread's cache back and takes the thread out of the registry.
unsafe extern "C" fn on_thread_exit(thread: *mut c_void) {
    // SAFETY: `register` armed the hook with the calling thread's own state, which has no destructor
    // and so is whole until the thread is gone.
    let thread = unsafe { &*thread.cast::<Thread>() };
    door::pass(thread, IDLE, InFork::Waits, |access| match access {
        Access::Plain(cache) => HEAP.flush(cache, &mut ()),
        Access::Traced(cache, emitter) => {
            session::emit_thread_end(emitter, thread);
            HEAP.flush(cache, &mut crate::traced::Spans(emitter));
        }
        // A thread does not end inside one of its own operations.
        Access::Reentrant(_) => {}
    });
    thread.set_state(CHANGING);
    safepoint::registry().remove(thread);
    thread.set_state(GONE);
}

/// Has the trace end well when the process exits. Once.
#[cfg(feature = "recorder")]
pub(crate) fn watch_process() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if !WATCHED.swap(true, Ordering::Relaxed) {
        process::at_exit(on_process_exit);
    }
}

#[cfg(feature = "recorder")]
extern "C" fn on_process_exit() {
    session::stop(EndReason::Exited);
}
