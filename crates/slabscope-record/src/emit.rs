//! The nine events, as the allocator calls them.
//!
//! "Exists" and "alloc" follow the operation, "free" comes before it: an address that was given
//! back may be another thread's before the event is written. Ids, kindclasses and orders are Go's
//! (`slabscope_wire::alloc_free`).

use core::sync::atomic::Ordering;
use core::time::Duration;

use slabscope_os::{clock, cpu, futex};

use crate::at_once::AtOnce;
use crate::counts::EventKind;
use crate::declared::Declared;
use crate::policy::Overflow;
use crate::reading::{PageClock, Reading};
use crate::ring::{Event, Pushed};
use crate::session::Session;
use crate::stacks::Stacks;
use crate::thread_clock::ThreadClock;
use crate::thread_table::add_own;
use slabscope_unwind::Place;
use slabscope_wire::live::{site, word};

/// As the earliest time of an event: any reading will do, but no shared one.
const FRESH: u64 = 1;

/// Words in a ring at which the drainer is woken from a long pause, to have readings shared.
const BURST: u64 = 512;

/// Emits the events of one operation of one thread.
#[derive(Debug)]
pub struct Emitter<'a> {
    session: &'a Session,
    /// The thread's.
    clock: &'a ThreadClock,
    /// The thread's too.
    declared: &'a Declared,
    thread: u32,
    /// Whether the operation interrupted another of the same thread, whose clock and counters are then
    /// not ours to write.
    reentrant: bool,
    pressed: bool,
    /// Whether to wait for room whatever the policy says.
    patient: bool,
    /// Whether others wait for a lock that the thread holds.
    hasty: bool,
}

impl<'a> Emitter<'a> {
    /// For an operation of the thread with this number, this clock, and what it declares.
    #[inline]
    pub fn new(
        session: &'a Session,
        thread: u32,
        clock: &'a ThreadClock,
        declared: &'a Declared,
    ) -> Self {
        let (reentrant, pressed, patient, hasty) = (false, false, false, false);
        Emitter { session, clock, declared, thread, reentrant, pressed, patient, hasty }
    }

    /// For an operation that interrupted another of its thread.
    pub fn reentrant(
        session: &'a Session,
        thread: u32,
        clock: &'a ThreadClock,
        declared: &'a Declared,
    ) -> Self {
        Emitter { reentrant: true, ..Emitter::new(session, thread, clock, declared) }
    }

    /// Waits for room whatever the policy says: for a time when nobody else pushes.
    pub fn patiently(self) -> Self {
        Emitter { patient: true, ..self }
    }

    /// Waits for nothing that can do without, since the thread holds a lock.
    pub fn hastily(self) -> Self {
        Emitter { hasty: true, ..self }
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

    /// An object exists since before the trace; its requested size is not known. For a time when nobody
    /// else emits: its page's clock stays as it is.
    pub fn object_exists(&mut self, id: u64) {
        let first = word::event(EventKind::Object, id, 0);
        if !self.session.rings().extend(self.clock, first) {
            self.push(EventKind::Object, [first, 0], 0);
        }
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
        let of = self.declared.number(self.session);
        let site = match self.session.stacks() {
            None => self.session.sites().intern(size, align, of),
            Some(stacks) => self.site_with_stack(stacks, (size, align, of), &place()),
        };
        self.object(EventKind::ObjectAlloc, id, site);
        self.add_live(slot as u64);
    }

    /// The site's number with its call stack, or without it for lack of room. A thread that meets code
    /// of a module nobody knows yet waits for the drainer to look at it: now if it may, or else after
    /// its operation.
    fn site_with_stack(
        &mut self,
        stacks: &Stacks,
        (size, align, of): (usize, usize, u16),
        at: &Place,
    ) -> u32 {
        let request = site::pack(size as u64, align as u64, of);
        let waits = self.session.pressed_at() != u64::MAX;
        let is_alone = !self.reentrant && !self.hasty;
        let memo = is_alone.then(|| stacks.memo(self.thread)).flatten();
        let site = stacks.intern(request, at, memo, self.session, waits && is_alone);
        self.pressed |= waits && stacks.wants_scan();
        site.unwrap_or_else(|| self.session.sites().intern(size, align, of))
    }

    /// An object in a slot of `slot` bytes is about to be freed.
    #[inline]
    pub fn object_free(&mut self, id: u64, slot: usize) {
        self.object(EventKind::ObjectFree, id, 0);
        self.add_live((slot as u64).wrapping_neg());
    }

    /// A span exists since before the trace.
    pub fn span_exists(&mut self, id: u64, pages: u64, kindclass: u64) {
        self.span(EventKind::Span, id, pages, kindclass);
    }

    /// A span was allocated; objects may begin on its first `objects` pages.
    pub fn span_alloc(&mut self, id: u64, pages: u64, kindclass: u64, objects: u64) {
        let reading = self.span(EventKind::SpanAlloc, id, pages, kindclass);
        // Whoever allocates in it has a later reading then.
        for page in id..id + objects {
            self.session.pages().of_page(page).raise(reading);
        }
    }

    /// A span is about to be freed.
    pub fn span_free(&mut self, id: u64) {
        self.push(EventKind::SpanFree, [word::event(EventKind::SpanFree, id, 0), 0], FRESH);
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

    fn span(&mut self, kind: EventKind, id: u64, pages: u64, kindclass: u64) -> Reading {
        let argument = word::argument(word::span_argument(pages, kindclass));
        self.push(kind, [word::event(kind, id, 0), argument], FRESH)
    }

    /// Stacks may lie anywhere, below the heap too, so their ids need the longer word.
    fn stack(&mut self, kind: EventKind, id: u64, order: u64) {
        self.push(kind, [word::event(kind, order, 0), word::argument(id)], FRESH);
    }

    #[inline]
    fn add_live(&self, bytes: u64) {
        if self.reentrant {
            self.session.live_of_others.fetch_add(bytes, Ordering::Relaxed);
        } else {
            add_own(&self.session.threads().get(self.thread).live, bytes);
        }
    }

    /// An event of an object: with the thread's reading, if its page's clock allows it.
    #[inline]
    fn object(&mut self, kind: EventKind, id: u64, site: u32) {
        let at_once = AtOnce::new(self.session, self.thread, self.clock);
        if !self.reentrant && at_once.object(kind, id, site) {
            return;
        }
        self.object_slow(kind, word::event(kind, id, site), self.session.pages().of_object(id));
    }

    #[inline(never)]
    fn object_slow(&mut self, kind: EventKind, first: u64, page: PageClock<'_>) {
        let seen = page.get();
        let floor = if seen.allows(self.clock.reading()) { 0 } else { seen.floor() };
        let reading = self.push(kind, [first, 0], floor);
        page.raise(reading);
    }

    /// Pushes an event whose time is `floor` at least, in ticks, and returns that time. Spans and stacks
    /// always take a fresh reading: it is later than every event that came before.
    fn push(&mut self, kind: EventKind, words: [u64; 2], floor: u64) -> Reading {
        let event = Event { thread: self.thread, words, floor };
        match self.try_push(event) {
            Pushed::Done { used, reading } => {
                self.pressed |= used > self.session.pressed_at();
                if used > BURST && self.session.is_to_share_readings() {
                    self.session.signal().nudge();
                }
                reading
            }
            Pushed::Full => self.push_slow(kind, event),
        }
    }

    fn try_push(&self, event: Event) -> Pushed {
        let rings = self.session.rings();
        if !self.reentrant {
            return rings.push(self.clock, event);
        }
        let pushed = rings.push_reentrant(event);
        self.clock.interrupt();
        pushed
    }

    /// The ring is full in the middle of an operation. The event was counted as happened, so if it is
    /// dropped it shows as lost. If not: the drainer waits for no thread, so waiting for it here
    /// ends; but threads at the safepoint wait for us, which is why the room above [`PRESSED`](crate::ring::PRESSED) makes
    /// this rare.
    #[cold]
    fn push_slow(&mut self, kind: EventKind, event: Event) -> Reading {
        let session = self.session;
        if session.policy().overflow == Overflow::Drop && !self.patient {
            session.signal().nudge();
            return self.drop_event(kind);
        }
        let begun = clock::monotonic_ns();
        while !session.has_failed() {
            let round = session.signal().rounds();
            session.signal().nudge();
            if let Pushed::Done { reading, .. } = self.try_push(event) {
                self.pressed = true;
                return reading;
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
        self.drop_event(kind)
    }

    /// An event that is in no trace needs no time.
    fn drop_event(&self, kind: EventKind) -> Reading {
        self.session.note_drop(kind);
        Reading::NONE
    }
}
