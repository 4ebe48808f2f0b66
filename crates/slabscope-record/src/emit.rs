//! The nine events, as the allocator calls them.
//!
//! "Exists" and "alloc" follow the operation, "free" comes before it: an address that was given
//! back may be another thread's before the event is written. Ids, kindclasses and orders are Go's
//! (`slabscope_wire::alloc_free`).

use core::sync::atomic::Ordering;
use core::time::Duration;

use slabscope_os::{clock, cpu, futex};

use crate::counts::EventKind;
use crate::policy::Overflow;
use crate::ring::Pushed;
use crate::session::Session;
use crate::stacks::Stacks;
use crate::thread_table::{ThreadEntry, add_own};
use slabscope_unwind::Place;
use slabscope_wire::live::word;

/// Emits the events of one operation of one thread.
#[derive(Debug)]
pub struct Emitter<'a> {
    session: &'a Session,
    entry: &'a ThreadEntry,
    thread: u32,
    /// Whether the operation interrupted another of the same thread, whose counters are then not
    /// ours to write.
    reentrant: bool,
    pressed: bool,
    /// How full a ring has its threads wait.
    pressed_at: u64,
    /// Whether to wait for room whatever the policy says.
    patient: bool,
}

impl<'a> Emitter<'a> {
    /// For an operation of the thread with this number.
    #[inline]
    pub fn new(session: &'a Session, thread: u32) -> Self {
        let entry = session.threads().get(thread);
        let pressed_at = session.pressed_at();
        let reentrant = thread == 0;
        Emitter { session, entry, thread, reentrant, pressed: false, pressed_at, patient: false }
    }

    /// For an operation that interrupted another of its thread.
    pub fn reentrant(session: &'a Session, thread: u32) -> Self {
        Emitter { reentrant: true, ..Emitter::new(session, thread) }
    }

    /// Waits for room whatever the policy says: for a time when nobody else pushes.
    pub fn patiently(self) -> Self {
        Emitter { patient: true, ..self }
    }

    /// Whether the thread should wait for the drainer once its operation is over.
    #[inline]
    pub fn pressed(&self) -> bool {
        self.pressed && self.is_waiting_worthwhile()
    }

    /// Nothing comes of it once the trace has failed; nor when somebody waited too long already, which
    /// ends it here.
    #[cold]
    fn is_waiting_worthwhile(&self) -> bool {
        if self.session.signal().is_overdue() {
            self.session.stall();
        }
        !self.session.has_failed()
    }

    /// An object exists since before the trace; its requested size is not known.
    pub fn object_exists(&mut self, id: u64) {
        self.push(EventKind::Object, word::event(EventKind::Object, id, 0), 0);
    }

    /// An object of `size` bytes at `align` was allocated in a slot of `slot` bytes; `place` says
    /// where the call came from, if that is to be known.
    #[inline]
    pub fn object_alloc(
        &mut self,
        id: u64,
        size: usize,
        align: usize,
        slot: usize,
        place: impl FnOnce() -> Place,
    ) {
        let site = match self.session.stacks() {
            None => self.session.sites().intern(size, align),
            Some(stacks) => self.site_with_stack(stacks, size, align, &place()),
        };
        self.push(EventKind::ObjectAlloc, word::event(EventKind::ObjectAlloc, id, site), 0);
        if self.reentrant {
            self.session.shared().allocated.fetch_add(slot as u64, Ordering::Relaxed);
        } else {
            add_own(&self.entry.allocated, slot as u64);
        }
    }

    /// The site's number with its call stack, or without it for lack of room. A thread that meets code
    /// of a module nobody knows yet should wait for the drainer to look at it.
    fn site_with_stack(&mut self, stacks: &Stacks, size: usize, align: usize, at: &Place) -> u32 {
        let site = stacks.intern(size, align, at, self.session.live());
        self.pressed |= stacks.wants_scan() && self.pressed_at != u64::MAX;
        site.unwrap_or_else(|| self.session.sites().intern(size, align))
    }

    /// An object in a slot of `slot` bytes is about to be freed.
    #[inline]
    pub fn object_free(&mut self, id: u64, slot: usize) {
        self.push(EventKind::ObjectFree, word::event(EventKind::ObjectFree, id, 0), 0);
        if self.reentrant {
            self.session.shared().freed.fetch_add(slot as u64, Ordering::Relaxed);
        } else {
            add_own(&self.entry.freed, slot as u64);
        }
    }

    /// A span exists since before the trace.
    pub fn span_exists(&mut self, id: u64, pages: u64, kindclass: u64) {
        self.span(EventKind::Span, id, pages, kindclass);
    }

    /// A span was allocated.
    pub fn span_alloc(&mut self, id: u64, pages: u64, kindclass: u64) {
        self.span(EventKind::SpanAlloc, id, pages, kindclass);
    }

    /// A span is about to be freed.
    pub fn span_free(&mut self, id: u64) {
        self.push(EventKind::SpanFree, word::event(EventKind::SpanFree, id, 0), 0);
    }

    /// A stack exists since before the trace.
    pub fn stack_exists(&mut self, id: u64, order: u64) {
        self.stack(EventKind::Stack, id, order);
    }

    /// A stack was allocated, or a thread with a stack of its own appeared.
    pub fn stack_alloc(&mut self, id: u64, order: u64) {
        self.stack(EventKind::StackAlloc, id, order);
    }

    /// A stack is about to be freed, or its thread to end.
    pub fn stack_free(&mut self, id: u64) {
        self.stack(EventKind::StackFree, id, 0);
    }

    fn span(&mut self, kind: EventKind, id: u64, pages: u64, kindclass: u64) {
        let argument = word::argument(word::span_argument(pages, kindclass));
        self.push(kind, word::event(kind, id, 0), argument);
    }

    /// Stacks may lie anywhere, below the heap too, so their ids need the longer word.
    fn stack(&mut self, kind: EventKind, id: u64, order: u64) {
        self.push(kind, word::event(kind, order, 0), word::argument(id));
    }

    #[inline]
    fn push(&mut self, kind: EventKind, first: u64, second: u64) {
        if self.reentrant {
            self.session.shared().counts.add_shared(kind, 1);
        } else {
            self.entry.counts.add_own(kind);
        }
        match self.session.rings().push(self.thread, first, second) {
            Pushed::Done(used) => self.pressed |= used > self.pressed_at,
            _ => self.push_slow(first, second),
        }
    }

    fn try_again(&self, first: u64, second: u64) -> bool {
        let rings = self.session.rings();
        let pushed = match self.reentrant {
            true => rings.push_reentrant(self.thread, first, second),
            false => rings.push(self.thread, first, second),
        };
        matches!(pushed, Pushed::Done(_))
    }

    /// The ring is full in the middle of an operation. The event was counted as happened, so if it is
    /// dropped it shows as lost. If not: the drainer waits for no thread, so waiting for it here
    /// ends; but threads at the safepoint wait for us, which is why the room above [`PRESSED`](crate::ring::PRESSED) makes
    /// this rare.
    #[cold]
    fn push_slow(&mut self, first: u64, second: u64) {
        let session = self.session;
        if session.policy().overflow == Overflow::Drop && !self.patient {
            session.signal().nudge();
            return session.rings().note_drop();
        }
        let begun = clock::monotonic_ns();
        while !session.has_failed() {
            let round = session.signal().rounds();
            session.signal().nudge();
            if self.try_again(first, second) {
                self.pressed = true;
                return;
            }
            cpu::give_way();
            futex::wait(round.0, round.1, Duration::from_millis(1));
            let waited = clock::monotonic_ns().saturating_sub(begun);
            if u128::from(waited) > session.policy().stall.as_nanos() {
                session.stall();
            }
        }
        // Waiting helps nobody any more.
        self.pressed = false;
        session.rings().note_drop();
    }
}
