//! A session from its beginning to its end: the drainer is started, and waited for.

use core::ffi::c_void;
use core::ptr::NonNull;
use core::sync::atomic::Ordering;
use core::time::Duration;

use slabscope_os::file::Errno;
use slabscope_os::{clock, futex, map, thread};
use slabscope_wire::alloc_free::EndReason;

use crate::counts::KINDS;
use crate::drain;
use crate::memory::{self, Extent, RecorderMemory};
use crate::session::{Config, STACK_LEN, Session, StartError, Summary};
use crate::signal::Signal;
use crate::stacks::Stacks;

/// A running session and its drainer.
#[derive(Clone, Copy, Debug)]
pub struct Running {
    session: NonNull<Session>,
    drainer: thread::Handle,
}

// SAFETY: it is two addresses; what they may be used for is said at `finish`.
unsafe impl Send for Running {}

impl Running {
    /// Opens the file, maps rings and tables and starts the drainer.
    ///
    /// The session lives until [`Running::finish`].
    ///
    /// # Errors
    /// See [`StartError`]; nothing is left behind but, at worst, an empty file.
    pub fn start(config: Config<'_>, signal: &'static Signal) -> Result<Running, StartError> {
        let place: NonNull<Session> =
            map::zeroed(size_of::<Session>()).ok_or(StartError::Memory)?.cast();
        // SAFETY: the mapping is large enough, aligned to a page, and nobody's yet.
        if let Err(error) = unsafe { Session::make_at(place, config, signal) } {
            // SAFETY: the mapping is ours and unused.
            unsafe { map::unmap(place.cast(), size_of::<Session>()) };
            return Err(error);
        }
        // SAFETY: it was made there.
        let stack = unsafe { place.as_ref() }.stack;
        // SAFETY: `drain_main` takes a session, which lives until the thread is joined in `finish`.
        let started = unsafe { thread::spawn(stack, STACK_LEN, drain_main, place.as_ptr().cast()) };
        match started {
            Ok(drainer) => Ok(Running { session: place, drainer }),
            Err(error) => {
                // SAFETY: the thread does not exist, so nobody else knows the session.
                unsafe { destroy(place) };
                Err(StartError::Thread(error))
            }
        }
    }

    /// The session, for as long as [`Running::finish`] was not called.
    pub fn session(&self) -> NonNull<Session> {
        self.session
    }

    /// What memory the recorder has.
    pub fn memory(&self) -> RecorderMemory {
        // SAFETY: the session lives: nobody has called `finish`, which takes `self`.
        let session = unsafe { self.session.as_ref() };
        let [rings, tables, chunk] = session.live().extents();
        let stack = Extent::of(session.stack, STACK_LEN);
        let own = Extent::of(self.session.cast(), size_of::<Session>());
        RecorderMemory {
            rings,
            tables: tables.and(own),
            drainer: chunk.and(stack).and(memory::known()),
            unwind_tables: session.stacks().map_or(Extent::default(), Stacks::unwind_tables),
            live_file: session.live().file_sizes(),
        }
    }

    /// In a forked child: closes the file, which the parent goes on writing. The memory stays, a copy
    /// that costs nothing until it is touched; the drainer does not exist here.
    pub fn forget_after_fork(self) {
        // SAFETY: the session lives: nobody has called `finish`, which takes `self`.
        let session = unsafe { self.session.as_ref() };
        session.live().forget();
        session.file().close();
    }

    /// Ends the trace: the drainer takes what is left, closes the file and ends.
    ///
    /// # Safety
    /// Nobody is inside an operation that uses the session, and nobody will be; called once.
    pub unsafe fn finish(self, reason: EndReason) -> Summary {
        // SAFETY: it lives until `destroy` below.
        let session = unsafe { self.session.as_ref() };
        // Release: see `Session::ending`.
        session.ending.store(reason as u32 + 1, Ordering::Release);
        session.signal().nudge();
        if !session.wait_for_drainer() {
            // It may still be writing, so all it uses stays as it is; the live file has the rest.
            return Summary { failure: Some(Errno::TIMED_OUT), ..session.so_far() };
        }
        // SAFETY: the thread came from `spawn` in `start`, and `finish` is called once.
        unsafe { self.drainer.join() };
        let failure = session.failure.load(Ordering::Relaxed) as i32;
        let summary = Summary {
            events: KINDS.iter().map(|&kind| session.happened(kind)).sum(),
            lost: session.lost.iter().map(|lost| lost.load(Ordering::Relaxed)).sum(),
            bytes: session.written.load(Ordering::Relaxed),
            failure: (failure != 0).then_some(Errno(failure)),
        };
        // SAFETY: the drainer is gone, and nobody else uses the session, by the caller.
        unsafe { destroy(self.session) };
        summary
    }
}

impl Session {
    /// Waits for the drainer's end; `false` when the file takes nothing for too long.
    fn wait_for_drainer(&self) -> bool {
        let (mut written, mut since) = (self.live().bytes_written(), clock::monotonic_ns());
        while self.done.load(Ordering::Acquire) == 0 {
            futex::wait(&self.done, 0, Duration::from_millis(100));
            let (now, written_now) = (clock::monotonic_ns(), self.live().bytes_written());
            if written_now != written {
                (written, since) = (written_now, now);
            }
            // The drainer itself waits as long for its file: it should come to its end first.
            let patience = self.policy().stall + Duration::from_secs(1);
            if u128::from(now.saturating_sub(since)) > patience.as_nanos() {
                self.stall();
                return false;
            }
        }
        true
    }

    /// What the trace came to up to the last checkpoint.
    fn so_far(&self) -> Summary {
        let taken: u64 = KINDS.iter().map(|&kind| self.happened(kind)).sum();
        let events = taken + self.rings().events_left();
        let in_file = self.live().events_in_trace();
        let lost = u64::saturating_sub(events, in_file);
        Summary { events, lost, bytes: self.live().bytes_written(), failure: None }
    }
}

/// # Safety
/// `session` came from `start`, its drainer does not run, and nobody will use it.
unsafe fn destroy(session: NonNull<Session>) {
    // SAFETY: the session is whole and this is its only use, by the caller.
    let owned = unsafe { session.as_ref() };
    owned.live().end();
    owned.live().remove();
    owned.file().close();
    let stack = owned.stack;
    // SAFETY: no thread stands on it.
    unsafe { thread::unmap_stack(stack, STACK_LEN) };
    // SAFETY: nobody uses it any more, by the caller.
    unsafe { session.drop_in_place() };
    // SAFETY: the value is gone, and the mapping is ours.
    unsafe { map::unmap(session.cast(), size_of::<Session>()) };
}

extern "C" fn drain_main(session: *mut c_void) -> *mut c_void {
    thread::set_name(c"slabscope-drain");
    // SAFETY: `start` passes a session that lives until this thread is joined.
    let session = unsafe { &*session.cast::<Session>() };
    drain::run(session);
    // Release: whoever sees it sees what the drainer left behind.
    session.done.store(1, Ordering::Release);
    futex::wake(&session.done, 1);
    core::ptr::null_mut()
}
