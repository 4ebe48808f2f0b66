//! Events that take nothing but a word in a ring, and a page's clock that agrees: nearly all do.
//!
//! Apart from [`Emitter`](crate::Emitter), since what is here becomes part of the allocator's own code, and
//! all of it stays in registers.

use slabscope_wire::live::word;

use crate::counts::EventKind;
use crate::declared::Declared;
use crate::session::Session;
use crate::thread_clock::ThreadClock;
use crate::thread_table::add_own;

/// Records events of a thread that has interrupted none of its own operations.
#[derive(Clone, Copy, Debug)]
pub struct AtOnce<'a> {
    session: &'a Session,
    clock: &'a ThreadClock,
    thread: u32,
}

impl<'a> AtOnce<'a> {
    /// For the thread with this number and this clock.
    #[inline(always)]
    pub fn new(session: &'a Session, thread: u32, clock: &'a ThreadClock) -> Self {
        AtOnce { session, clock, thread }
    }

    /// Whether an alloc event needs no more than size and alignment: no call stack, no type.
    #[inline(always)]
    pub fn is_plain(self, declared: &Declared) -> bool {
        self.session.stacks().is_none() && declared.is_none()
    }

    /// As [`Emitter::object_alloc`](crate::Emitter::object_alloc), of what is plain; `false`, and nothing is
    /// recorded, if it takes more than this.
    #[inline(always)]
    pub fn object_alloc(self, id: u64, size: usize, align: usize, slot: usize) -> bool {
        let site = self.session.sites().intern(size, align, 0);
        let done = self.object(EventKind::ObjectAlloc, id, site);
        if done {
            add_own(&self.session.threads().get(self.thread).live, slot as u64);
        }
        done
    }

    /// As [`Emitter::object_free`](crate::Emitter::object_free); `false`, and nothing is recorded, if it takes
    /// more than this.
    #[inline(always)]
    pub fn object_free(self, id: u64, slot: usize) -> bool {
        let done = self.object(EventKind::ObjectFree, id, 0);
        if done {
            add_own(&self.session.threads().get(self.thread).live, (slot as u64).wrapping_neg());
        }
        done
    }

    /// An event of an object with the thread's reading, if its page's clock allows it.
    #[inline(always)]
    pub(crate) fn object(self, kind: EventKind, id: u64, site: u32) -> bool {
        let (page, own) = (self.session.pages().of_object(id), self.clock.reading());
        let seen = page.get();
        let first = word::event(kind, id, site);
        let done = seen.allows(own) && self.session.rings().extend(self.clock, first);
        if done && seen != own {
            page.raise_from(seen, own);
        }
        done
    }
}
