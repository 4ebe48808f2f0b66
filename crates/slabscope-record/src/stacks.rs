//! Sites with call stacks.
//!
//! The stack is hashed as it is walked, or compared with what its thread walked last (`memos`), and one
//! look into an index gives the number of a site that came before. Only a new one is taken apart: those
//! of its frames that are not known yet are interned, from the outermost on, each as an address and the
//! frame that called it, so that stacks share what they have in common. What no table has room for is
//! recorded without a stack, and counted.

mod frames;
mod look;
mod memos;
mod recent;
mod records;

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use slabscope_os::KERNEL_PAGE;
use slabscope_os::file::Errno;
use slabscope_unwind::{CallStack, DEPTH_MAX, Depth, Frame, Memo, Place, Unwinder};
use slabscope_wire::live::{frame, word};

use crate::hash::{ODD, SEED, fold};
use crate::index::Index;
use crate::live::{Live, Part};
use crate::memory::Extent;
use crate::modules;
use crate::policy::Policy;
use crate::session::Session;
use crate::site::{SLOTS, Site};
use frames::{Frames, Link};
use memos::Memos;
use recent::Recent;
use records::Records;

/// Sites with stacks that a trace can tell apart.
pub(crate) const STACK_SITES: usize = 1 << 22;

/// Frames it can have, each with what called it.
pub(crate) const FRAMES: usize = (1 << 22) - 1024;

/// The table of frames has whole pages, so there are not more than that.
const _: () = assert!(
    FRAMES <= frame::NUMBER_MAX as usize && (FRAMES * frame::LEN).is_multiple_of(KERNEL_PAGE)
);

const _: () = assert!(SLOTS + STACK_SITES <= word::SITE_MAX as usize);

/// The call stacks of one trace.
#[derive(Debug)]
pub struct Stacks {
    unwinder: &'static Unwinder,
    depth: Depth,
    memos: Memos,
    sites: Records,
    frames: Frames,
    recent: Recent,
    site_index: Index<AtomicU64>,
    /// Of half the width: a frame is looked at before it counts as found.
    frame_index: Index<AtomicU32>,
    /// Events whose site has no stack for lack of room, or since none was found.
    without: AtomicU64,
}

/// Room for call stacks, if they are to be taken and the first look at the modules says that they can be;
/// `None` without memory.
pub(crate) fn begin(
    unwinder: &'static Unwinder,
    policy: &Policy,
    looked: Result<(), Errno>,
    live: &Live,
) -> Option<Option<Stacks>> {
    if policy.stacks == 0 {
        return Some(None);
    }
    match looked {
        Ok(()) => {
            modules::keep_first(unwinder, live);
            Some(Some(Stacks::new(unwinder, policy.stacks.into(), live)?))
        }
        Err(why) => {
            modules::complain(why);
            Some(None)
        }
    }
}

impl Stacks {
    /// Stacks of `depth` frames at most, in this memory; `None` if there is none.
    pub(crate) fn new(unwinder: &'static Unwinder, depth: usize, live: &Live) -> Option<Self> {
        let (sites, frames) = (live.stack_sites()?, live.frames()?);
        let (site_index, frame_index) = (Index::new(STACK_SITES)?, Index::new(FRAMES)?);
        site_index.advise_large_pages();
        frame_index.advise_large_pages();
        Some(Stacks {
            unwinder,
            depth: Depth::new(depth),
            memos: Memos::new()?,
            sites: Records::new(sites.0, sites.1),
            frames: Frames::new(frames.0, frames.1, frames.2),
            recent: Recent::new()?,
            site_index,
            frame_index,
            without: AtomicU64::new(0),
        })
    }

    /// The number of the site that makes this request, a word of [`site`](slabscope_wire::live::site), at `place`; `None`, and
    /// counted, when it has to do without a stack. `memo` is the calling thread's, if it may be used.
    /// Code of a module nobody has looked at yet is waited for, if the thread `may_wait`.
    #[inline(never)]
    pub(crate) fn intern(
        &self,
        request: u64,
        place: &Place,
        memo: Option<&Memo>,
        session: &Session,
        may_wait: bool,
    ) -> Option<u32> {
        let known = memo.and_then(|memo| self.unwinder.hash(place, self.depth, memo));
        let Some(stack) = known else { return self.walk(request, place, session, may_wait) };
        let hash = self.hash(stack, request);
        if let Some(number) = self.recent.find(hash) {
            return Some(SLOTS as u32 + number);
        }
        match self.site_index.find(hash, |_| true) {
            Some(number) => {
                self.recent.keep(hash, number);
                Some(SLOTS as u32 + number)
            }
            None => self.walk(request, place, session, may_wait),
        }
    }

    /// As [`Stacks::intern`], for a stack that has to be walked.
    #[inline(never)]
    fn walk(&self, request: u64, place: &Place, session: &Session, may_wait: bool) -> Option<u32> {
        let mut stack = CallStack::new();
        self.unwinder.walk(place, self.depth, &mut stack);
        if self.unwinder.wants_scan() && may_wait {
            self.walk_again(place, session, &mut stack);
        }
        let hash = self.hash(stack.hash(), request);
        if let Some(number) = self.recent.find(hash) {
            return Some(SLOTS as u32 + number);
        }
        let found = self.site_index.find(hash, |_| true);
        let Some(number) = found.or_else(|| self.enter(&stack, request, hash, session.live()))
        else {
            self.without.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        self.recent.keep(hash, number);
        Some(SLOTS as u32 + number)
    }

    /// The hash of a request with a stack that has this one.
    #[inline(always)]
    fn hash(&self, stack: u64, request: u64) -> u64 {
        let era = u64::from(self.unwinder.era());
        fold(fold(stack ^ SEED, ODD) ^ request, ODD ^ era << 1)
    }

    /// Walks a stack that ends too early once more, after a look at what was loaded.
    #[cold]
    #[inline(never)]
    fn walk_again(&self, place: &Place, session: &Session, stack: &mut CallStack) {
        if stack.is_truncated() {
            look::wait(self, session);
            *stack = CallStack::new();
            self.unwinder.walk(place, self.depth, stack);
        }
    }

    /// Interns a stack that is new.
    #[cold]
    #[inline(never)]
    fn enter(&self, stack: &CallStack, request: u64, hash: u64, live: &Live) -> Option<u32> {
        let innermost = self.innermost(stack.frames(), live)?;
        let back = |len| live.back(Part::StackSites, len);
        let number = self.sites.push(request, innermost, back)?;
        Some(self.site_index.insert(hash, number, |_| true))
    }

    /// The number of the innermost of these frames. Most of a new stack is known: it is looked for from the
    /// inside, and only what is inside of that is entered.
    fn innermost(&self, frames: &[Frame], live: &Live) -> Option<u32> {
        let mut hashes = [0; DEPTH_MAX];
        let era = u64::from(self.unwinder.era());
        let mut hash = era << 40;
        for (place, frame) in hashes.iter_mut().zip(frames.iter().rev()) {
            hash = fold(hash ^ frame.word() ^ SEED, ODD);
            *place = hash;
        }
        let hashes = hashes.get(..frames.len())?;
        let mut known = (0, 0);
        for (depth, hash) in (1..frames.len() + 1).zip(hashes).rev() {
            let outer = frames.get(frames.len() - depth..)?;
            if let Some(number) = self.frame_index.find(*hash, |number| self.is(number, outer)) {
                known = (depth, number);
                break;
            }
        }
        let (depth, mut number) = known;
        for (frame, hash) in frames.iter().rev().zip(hashes).skip(depth) {
            number = self.add(Link { frame: *frame, parent: number }, *hash, live)?;
        }
        (number != 0).then_some(number)
    }

    /// Whether the frame with this number and those that called it are these.
    fn is(&self, number: u32, frames: &[Frame]) -> bool {
        let called = |number: u32, frame: &Frame| {
            self.frames.get(number).filter(|link| link.frame == *frame).map(|link| link.parent)
        };
        frames.iter().try_fold(number, called) == Some(0)
    }

    /// Adds a frame, which is found under `hash` from now on.
    fn add(&self, link: Link, hash: u64, live: &Live) -> Option<u32> {
        let word = self.frames.pack(link)?;
        let number = self.frames.push(word, |len| live.back(Part::Frames, len))?;
        Some(self.frame_index.insert(hash, number, |number| self.frames.word(number) == word))
    }

    /// What a site's number stands for, and its innermost frame; `None` for numbers never given out.
    pub(crate) fn site(&self, number: u32) -> Option<(Site, u32)> {
        let (request, frame) = self.sites.get(number.checked_sub(SLOTS as u32)?)?;
        Some((Site::of_request(request)?, frame))
    }

    /// What a frame's number stands for.
    pub(crate) fn link(&self, number: u32) -> Option<Link> {
        self.frames.get(number)
    }

    /// How many frames a stack has at most.
    pub(crate) fn depth(&self) -> usize {
        self.depth.frames()
    }

    /// What the calling thread, whose number this is, remembers of its last walks.
    #[inline]
    pub(crate) fn memo(&self, thread: u32) -> Option<&Memo> {
        self.memos.of(thread)
    }

    /// The thread with this number ends.
    pub(crate) fn leave_thread(&self, thread: u32) {
        self.memos.leave(thread);
    }

    /// Events so far that did without.
    pub(crate) fn without(&self) -> u64 {
        self.without.load(Ordering::Relaxed)
    }

    /// Whether an address came up that is in no known module.
    #[inline]
    pub(crate) fn wants_scan(&self) -> bool {
        self.unwinder.wants_scan()
    }

    /// The memory of the tables it walks by.
    pub(crate) fn unwind_tables(&self) -> Extent {
        let mut sum = Extent::default();
        self.unwinder.each_table(|start, len| {
            sum = sum.and(Extent::of(start, len.next_multiple_of(KERNEL_PAGE)));
        });
        sum
    }

    /// What knows the modules.
    pub(crate) fn unwinder(&self) -> &'static Unwinder {
        self.unwinder
    }
}
