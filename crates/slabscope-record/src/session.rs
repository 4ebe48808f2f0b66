//! One trace: what the threads that push and the drainer that takes share.
//!
//! A session begins before the world is stopped and its first event pushed, and ends after the
//! world was stopped and its last event pushed; in between anybody may use it who is inside an
//! operation. Waiting outside an operation goes through [`Signal`], which outlives every session.

mod make;

use core::ffi::CStr;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use slabscope_os::file::{Errno, File};
use slabscope_os::lock::Lock;
use slabscope_os::say::{self, Decimal};
use slabscope_os::{clock, thread};
use slabscope_unwind::Unwinder;
use slabscope_wire::alloc_free::EndReason;

use crate::clock::Anchor;
use crate::counts::Counts;
use crate::drain::Buffers;
use crate::live::{Live, Part};
use crate::mapped::Mapped;
use crate::policy::{Clock, Overflow, Policy};
use crate::reading::{PageClocks, TICKS_MAX};
use crate::ring::{PRESSED, Rings};
use crate::short_text::ShortText;
use crate::signal::Signal;
use crate::site::{Site, SiteTable};
use crate::stacks::Stacks;
use crate::thread_table::{ThreadEntry, ThreadTable};
use crate::type_names::TypeNames;

/// The drainer's stack, in bytes. It keeps its buffers in mappings.
pub(crate) const STACK_LEN: usize = 256 * 1024;

/// The number of the next session: only that it is another's matters.
static SERIAL: AtomicU32 = AtomicU32::new(1);

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
    /// What was chosen.
    pub policy: Policy,
    /// What walks call stacks, where they are taken.
    pub unwinder: &'static Unwinder,
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
    stacks: Option<Stacks>,
    type_names: TypeNames,
    /// Which session of the process it is, from 1.
    serial: u32,
    pages: PageClocks,
    /// The drainer's, until it takes them.
    pub(crate) buffers: Lock<Option<Buffers>>,
    signal: &'static Signal,
    /// Events that the drainer took from the rings.
    pub(crate) taken: Counts,
    /// Events that no ring had room for, by kind.
    dropped: Mapped<AtomicU64>,
    /// As [`ThreadEntry::live`](crate::thread_table::ThreadEntry), of operations that interrupted others,
    /// and so may not write their thread's own.
    pub(crate) live_of_others: AtomicU64,
    /// Set when the file can take no more: from then on events are counted as lost.
    failed: AtomicBool,
    /// 0 while the trace goes on, then 1 more than the reason of its end. Release on writing,
    /// acquire on reading: the drainer's last round sees everything pushed before.
    pub(crate) ending: AtomicU32,
    /// Bytes of slots that were live when the trace began.
    live_at_start: AtomicU64,
    file: File,
    heap_base: u64,
    policy: Policy,
    options: ShortText,
    writer: ShortText,
    pub(crate) stack: NonNull<u8>,
    /// 1 when the drainer has come to its end.
    pub(crate) done: AtomicU32,
    /// What the drainer leaves behind at its end: bytes of the file, the error number.
    pub(crate) written: AtomicU64,
    pub(crate) failure: AtomicU32,
    /// Events of each kind that happened and are not in the file.
    pub(crate) lost: [AtomicU64; 9],
}

// SAFETY: all fields but `stack` are shareable by themselves; `stack` is only given back, by
// `finish`, when nobody else is left.
unsafe impl Sync for Session {}

impl Session {
    /// Enters the calling thread into the trace; returns its number.
    pub fn enter_thread(&self) -> u32 {
        let back = |number| self.live.back(Part::Threads, (number + 1) * size_of::<ThreadEntry>());
        self.threads.enter(thread::id(), thread::name(), clock::monotonic_ns(), back)
    }

    /// Notes that the calling thread, whose number this is, ends now.
    pub fn leave_thread(&self, number: u32) {
        if number != 0 {
            self.threads.get(number).leave(thread::name(), clock::monotonic_ns());
            if let Some(stacks) = &self.stacks {
                stacks.leave_thread(number);
            }
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
            .wrapping_add(self.live_of_others.load(Ordering::Relaxed));
        for (_, entry) in self.threads.iter() {
            live = live.wrapping_add(entry.live.load(Ordering::Relaxed));
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

    /// The call stacks, if they are taken.
    #[inline]
    pub(crate) fn stacks(&self) -> Option<&Stacks> {
        self.stacks.as_ref()
    }

    /// What a site's number stands for, with its innermost frame or 0; `None` for 0 and numbers never
    /// given out.
    pub(crate) fn site(&self, number: u32) -> Option<(Site, u32)> {
        match self.sites.get(number) {
            Some(site) => Some((site, 0)),
            None => self.stacks()?.site(number),
        }
    }

    /// The number of a declared type's name; 0, and counted, when there is no room for it.
    pub(crate) fn intern_type_name(&self, name: &[u8]) -> u16 {
        self.type_names.intern(name, |len| self.live.back(Part::TypeNames, len))
    }

    /// The names of declared types.
    pub(crate) fn type_names(&self) -> &TypeNames {
        &self.type_names
    }

    /// Which session of the process this is, from 1.
    #[inline]
    pub(crate) fn serial(&self) -> u32 {
        self.serial
    }

    /// The clocks of pages.
    #[inline]
    pub(crate) fn pages(&self) -> &PageClocks {
        &self.pages
    }

    /// Whether readings may be shared at all; else every event takes its own.
    pub(crate) fn may_share_readings(&self) -> bool {
        self.policy.clock != Clock::Precise && self.begun[0].ticks < TICKS_MAX / 2
    }

    /// Whether readings may be shared, and are not yet.
    pub(crate) fn is_to_share_readings(&self) -> bool {
        !self.rings.shares_readings() && self.may_share_readings()
    }

    /// How many words in a ring have its threads wait for the drainer, once an operation is over.
    #[inline]
    pub(crate) fn pressed_at(&self) -> u64 {
        match self.policy.overflow {
            Overflow::Block => PRESSED,
            Overflow::Drop => u64::MAX,
        }
    }

    /// How to wait for the drainer.
    pub fn signal(&self) -> &'static Signal {
        self.signal
    }

    /// Events of `kind` that happened so far, those in the rings only once they are taken.
    pub(crate) fn happened(&self, kind: crate::EventKind) -> u64 {
        let dropped = self.dropped.get(kind as usize).map(|count| count.load(Ordering::Relaxed));
        self.taken.get(kind) + dropped.unwrap_or_default()
    }

    /// Counts an event that is in no ring, by its kind and by the CPU this runs on.
    pub(crate) fn note_drop(&self, kind: crate::EventKind) {
        if let Some(count) = self.dropped.get(kind as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.rings.note_drop();
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

    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Ends the trace early, since a ring holds what nobody pushed: says so once.
    #[cold]
    pub(crate) fn tear(&self) {
        if !self.failed.swap(true, Ordering::Relaxed) {
            say::line(&[
                "two wrote at one place of a ring, as when a child of vfork allocates; the trace ends \
                 here, the program goes on; with rings=cas in SLABSCOPE such children do no harm",
            ]);
        }
    }

    /// Ends the trace early, since nothing could be written for too long: says so once.
    pub(crate) fn stall(&self) {
        if !self.failed.swap(true, Ordering::Relaxed) {
            say::line(&[
                "the trace file took nothing for ",
                Decimal::new(self.policy.stall.as_secs()).as_str(),
                " s; the trace ends here, the program goes on",
            ]);
        }
    }
}
