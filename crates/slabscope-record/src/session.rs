//! One trace: what the threads that push and the drainer that takes share.
//!
//! A session begins before the world is stopped and its first event pushed, and ends after the
//! world was stopped and its last event pushed; in between anybody may use it who is inside an
//! operation. Waiting outside an operation goes through [`Signal`], which outlives every session.

use core::ffi::{CStr, c_void};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use slabscope_os::file::{Errno, File};
use slabscope_os::{clock, map, thread};
use slabscope_wire::alloc_free::EndReason;
use slabscope_wire::live::{header, state};

use crate::clock::Anchor;
use crate::counts::{Counts, KINDS};
use crate::drain;
use crate::live::{Live, Progress};
use crate::ring::{Protocol, Rings};
use crate::short_text::ShortText;
use crate::signal::Signal;
use crate::site::SiteTable;
use crate::thread_table::ThreadTable;

/// The drainer's stack, in bytes. It keeps its buffers in mappings.
const STACK_LEN: usize = 256 * 1024;

/// How a trace is to be made.
#[derive(Clone, Copy, Debug)]
pub struct Config<'a> {
    /// The trace file; an existing one is overwritten.
    pub path: &'a CStr,
    /// Lowest address of the heap.
    pub heap_base: u64,
    /// The options as the user wrote them, for the trace to show.
    pub options: &'a str,
    /// Name and version of the allocator.
    pub writer: &'a str,
    /// Push by compare-and-swap even where restartable sequences are there.
    pub force_cas: bool,
}

/// Why a trace could not begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartError {
    /// The file could not be made.
    File(Errno),
    /// No address space or memory for rings and tables.
    Memory,
    /// The drainer could not be started.
    Thread(Errno),
}

/// How a trace ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Events that happened.
    pub events: u64,
    /// Of these, events that are not in the file.
    pub lost: u64,
    /// Length of the file.
    pub bytes: u64,
    /// Why writing stopped early, if it did.
    pub failure: Option<Errno>,
}

/// Counters for operations that interrupted others, and so may not write their thread's own.
#[derive(Debug)]
pub struct SharedCounts {
    /// Events that happened in re-entrant operations.
    pub counts: Counts,
    /// Bytes of slots taken in re-entrant operations.
    pub allocated: AtomicU64,
    /// Bytes of slots given back in re-entrant operations.
    pub freed: AtomicU64,
}

/// A trace being made.
#[derive(Debug)]
pub struct Session {
    /// Two moments before the first event.
    begun: [Anchor; 2],
    /// What rings and tables lie in.
    live: Live,
    rings: Rings,
    threads: ThreadTable,
    sites: SiteTable,
    signal: &'static Signal,
    shared: SharedCounts,
    /// Set when the file can take no more: from then on events are counted as lost.
    failed: AtomicBool,
    /// 0 while the trace goes on, then 1 more than the reason of its end. Release on writing,
    /// acquire on reading: the drainer's last round sees everything pushed before.
    ending: AtomicU32,
    /// Bytes of slots that were live when the trace began.
    live_at_start: AtomicU64,
    file: File,
    heap_base: u64,
    force_cas: bool,
    options: ShortText,
    writer: ShortText,
    stack: NonNull<u8>,
    /// What the drainer leaves behind at its end: bytes of the file, the error number.
    pub(crate) written: AtomicU64,
    pub(crate) failure: AtomicU32,
    /// Events of each kind that happened and are not in the file.
    pub(crate) lost: [AtomicU64; 9],
}

// SAFETY: all fields but `stack` are shareable by themselves; `stack` is only given back, by
// `finish`, when nobody else is left.
unsafe impl Sync for Session {}

/// A running session and its drainer.
#[derive(Clone, Copy, Debug)]
pub struct Running {
    session: NonNull<Session>,
    drainer: thread::Handle,
}

// SAFETY: it is two addresses; what they may be used for is said at `finish`.
unsafe impl Send for Running {}

impl Session {
    /// Opens the file, maps rings and tables and starts the drainer.
    ///
    /// The session lives until [`Running::finish`].
    ///
    /// # Errors
    /// See [`StartError`]; nothing is left behind but, at worst, an empty file.
    pub fn start(config: Config<'_>, signal: &'static Signal) -> Result<Running, StartError> {
        let place: NonNull<Session> =
            map::zeroed(size_of::<Session>()).ok_or(StartError::Memory)?.cast();
        let made = Session::make(config, signal);
        let session = match made {
            Ok(session) => session,
            Err(error) => {
                // SAFETY: the mapping is ours and unused.
                unsafe { map::unmap(place.cast(), size_of::<Session>()) };
                return Err(error);
            }
        };
        let stack = session.stack;
        // SAFETY: the mapping is large enough, aligned to a page, and nobody's yet.
        unsafe { place.as_ptr().write(session) };
        // SAFETY: `drain_main` takes a session, which lives until the thread is joined in `finish`.
        let started = unsafe { thread::spawn(stack, STACK_LEN, drain_main, place.as_ptr().cast()) };
        match started {
            Ok(drainer) => Ok(Running { session: place, drainer }),
            Err(error) => {
                // SAFETY: the thread does not exist, so nobody else knows the session.
                unsafe { Session::destroy(place) };
                Err(StartError::Thread(error))
            }
        }
    }

    fn make(config: Config<'_>, signal: &'static Signal) -> Result<Session, StartError> {
        let file = File::create(config.path).map_err(StartError::File)?;
        let made = Session::in_memory(config, signal, file);
        if made.is_none() {
            file.close();
        }
        made.ok_or(StartError::Memory)
    }

    fn in_memory(config: Config<'_>, signal: &'static Signal, file: File) -> Option<Session> {
        let ticks_are_nanos = !clock::ticks_are_time();
        let begun = Anchor::now(ticks_are_nanos);
        let stack = thread::stack_for_spawn(STACK_LEN)?;
        let live = Live::new(file, Rings::count_needed());
        let parts = live.as_ref().and_then(|live| {
            let rings = Rings::new(live.heads()?, live.words()?, config.force_cas);
            let threads = ThreadTable::new(live.threads()?, live.thread_count()?);
            Some((rings, threads, SiteTable::new(live.sites()?)))
        });
        let (Some(live), Some((rings, threads, sites))) = (live, parts) else {
            // SAFETY: no thread was started on it.
            unsafe { thread::unmap_stack(stack, STACK_LEN) };
            return None;
        };
        // The two lie so far apart that a tick's length can be told from them.
        let begun = [begun, Anchor::now(ticks_are_nanos)];
        live.set(header::HEAP_BASE, config.heap_base);
        live.set(header::PROTOCOL, u64::from(matches!(rings.protocol(), Protocol::Cas)));
        live.set(header::TICKS_ARE_NANOS, u64::from(ticks_are_nanos));
        let none = core::iter::empty();
        live.checkpoint(&Progress { clock: begun, ..Progress::default() }, none);
        live.set(header::STATE, state::LIVE);
        Some(Session {
            begun,
            live,
            rings,
            threads,
            sites,
            signal,
            shared: SharedCounts {
                counts: Counts::new(),
                allocated: AtomicU64::new(0),
                freed: AtomicU64::new(0),
            },
            failed: AtomicBool::new(false),
            ending: AtomicU32::new(0),
            live_at_start: AtomicU64::new(0),
            file,
            heap_base: config.heap_base,
            force_cas: config.force_cas,
            options: ShortText::new(config.options),
            writer: ShortText::new(config.writer),
            stack,
            written: AtomicU64::new(0),
            failure: AtomicU32::new(0),
            lost: [const { AtomicU64::new(0) }; 9],
        })
    }

    /// # Safety
    /// `session` came from `start`, its drainer does not run, and nobody will use it.
    unsafe fn destroy(session: NonNull<Session>) {
        // SAFETY: the session is whole and this is its only use, by the caller.
        let owned = unsafe { session.as_ptr().read() };
        owned.live.end();
        owned.live.remove();
        owned.file.close();
        // SAFETY: no thread stands on it.
        unsafe { thread::unmap_stack(owned.stack, STACK_LEN) };
        drop(owned);
        // SAFETY: the value was moved out above, and the mapping is ours.
        unsafe { map::unmap(session.cast(), size_of::<Session>()) };
    }

    /// Enters the calling thread into the trace; returns its number.
    pub fn enter_thread(&self) -> u32 {
        let back = |number| self.live.back_thread(number);
        self.threads.enter(thread::id(), thread::name(), clock::monotonic_ns(), back)
    }

    /// Notes that the calling thread, whose number this is, ends now.
    pub fn leave_thread(&self, number: u32) {
        if number != 0 {
            self.threads.get(number).leave(thread::name(), clock::monotonic_ns());
        }
    }

    /// Notes how many bytes of slots were live when the trace began.
    pub fn set_live_at_start(&self, bytes: u64) {
        self.live_at_start.store(bytes, Ordering::Relaxed);
    }

    /// Bytes of slots live now: a live figure, off by operations under way.
    pub(crate) fn live_bytes(&self) -> u64 {
        let mut live = self
            .live_at_start
            .load(Ordering::Relaxed)
            .wrapping_add(self.shared.allocated.load(Ordering::Relaxed))
            .wrapping_sub(self.shared.freed.load(Ordering::Relaxed));
        for (_, entry) in self.threads.iter() {
            live = live
                .wrapping_add(entry.allocated.load(Ordering::Relaxed))
                .wrapping_sub(entry.freed.load(Ordering::Relaxed));
        }
        // A free may be counted before the alloc that another thread is still counting.
        if live > i64::MAX as u64 { 0 } else { live }
    }

    /// Two moments before the first event, on both clocks.
    pub(crate) fn begun(&self) -> [Anchor; 2] {
        self.begun
    }

    /// What rings and tables lie in.
    pub(crate) fn live(&self) -> &Live {
        &self.live
    }

    /// The rings.
    #[inline]
    pub fn rings(&self) -> &Rings {
        &self.rings
    }

    /// The threads.
    #[inline]
    pub fn threads(&self) -> &ThreadTable {
        &self.threads
    }

    /// The sites.
    #[inline]
    pub fn sites(&self) -> &SiteTable {
        &self.sites
    }

    /// The counters that are nobody's own.
    #[inline]
    pub fn shared(&self) -> &SharedCounts {
        &self.shared
    }

    /// How to wait for the drainer.
    pub fn signal(&self) -> &'static Signal {
        self.signal
    }

    /// Events of `kind` that happened so far.
    pub(crate) fn happened(&self, kind: crate::EventKind) -> u64 {
        let own: u64 = self.threads.iter().map(|(_, entry)| entry.counts.get(kind)).sum();
        own + self.shared.counts.get(kind)
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    pub(crate) fn set_failed(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Why the trace is to end, once it is.
    pub(crate) fn ending(&self) -> Option<EndReason> {
        let ending = self.ending.load(Ordering::Acquire);
        EndReason::new(u64::from(ending.checked_sub(1)?))
    }

    pub(crate) fn file(&self) -> File {
        self.file
    }

    pub(crate) fn heap_base(&self) -> u64 {
        self.heap_base
    }

    pub(crate) fn options(&self) -> &[u8] {
        self.options.as_bytes()
    }

    pub(crate) fn writer(&self) -> &[u8] {
        self.writer.as_bytes()
    }

    pub(crate) fn force_cas(&self) -> bool {
        self.force_cas
    }
}

impl Running {
    /// The session, for as long as [`Running::finish`] was not called.
    pub fn session(&self) -> NonNull<Session> {
        self.session
    }

    /// In a forked child: closes the file, which the parent goes on writing. The memory stays, a copy
    /// that costs nothing until it is touched; the drainer does not exist here.
    pub fn forget_after_fork(self) {
        // SAFETY: the session lives: nobody has called `finish`, which takes `self`.
        let session = unsafe { self.session.as_ref() };
        session.live.forget();
        session.file.close();
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
        session.signal.nudge();
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
        unsafe { Session::destroy(self.session) };
        summary
    }
}

extern "C" fn drain_main(session: *mut c_void) -> *mut c_void {
    thread::set_name(c"slabscope-drain");
    // SAFETY: `start` passes a session that lives until this thread is joined.
    let session = unsafe { &*session.cast::<Session>() };
    drain::run(session);
    core::ptr::null_mut()
}
