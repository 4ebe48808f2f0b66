//! What a thread's last walks found: stacks of one thread have most of their frames in common, and to
//! see that a frame is still there takes less than to find it.
//!
//! A step of a walk depends on nothing but the rules, the state it begins in (address, stack pointer and,
//! for some rules, frame pointer), and one or two words of the stack. So a step that was made once is made
//! again by comparing these. The steps lie in the order of the stack, the outermost first. A walk goes on
//! until it comes to a state that a step begins in, and from there compares; the steps of what is not the
//! same any more are replaced. Nothing here is believed for good: a step that has not been compared is
//! what would be, if the stack had these words.
//!
//! What is known of a stack so is its hash. Who meets a new one walks it in the plain way.

mod step;

use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use slabscope_os::registers::Registers;

use crate::reach::{Place, Reach};
use crate::rules::Rules;
use crate::stack::{Depth, RATIO};
use step::{At, END, EXACT, Known, LIVE, Made, PC, made};

/// Steps that are kept.
const STEPS: usize = 48;

/// So many more are made than were asked for: a stack that becomes shorter needs them next.
const AHEAD: usize = 8;

/// How many of the outermost are let go when there is no more room.
const SLACK: usize = 8;

/// The deepest walks that there is room for.
const DEPTH_MAX: usize = STEPS - AHEAD - SLACK;

/// So many walks do without, after one that met what is not kept here: the next would meet it too.
const PAUSE: u32 = 63;

/// The steps of one thread's last walks. All zeros is an empty one.
///
/// Relaxed: it is one thread's, as [`Unwinder::hash`](crate::Unwinder::hash) asks for.
#[derive(Debug)]
pub struct Memo {
    /// The rules' [`epoch`](Rules::epoch) when the steps were found.
    epoch: AtomicU32,
    /// How many there are, the outermost first. 0 while they change.
    len: AtomicU32,
    pause: AtomicU32,
    /// The hash of what lay outside the outermost.
    base: AtomicU64,
    /// From the function that asked to the innermost step.
    own: Known,
    steps: [Known; STEPS],
}

/// The steps just made, that of the function that asked first.
struct Fresh {
    steps: [MaybeUninit<Made>; 1 + DEPTH_MAX + AHEAD],
    len: usize,
}

/// Whether the steps from one on are still those that are made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compared {
    Same,
    /// Only those with at least this number.
    From(usize),
}

impl Memo {
    /// An empty one.
    #[expect(clippy::new_without_default, reason = "it is made for statics")]
    pub const fn new() -> Self {
        Memo {
            epoch: AtomicU32::new(0),
            len: AtomicU32::new(0),
            pause: AtomicU32::new(0),
            base: AtomicU64::new(0),
            own: Known::new(),
            steps: [const { Known::new() }; STEPS],
        }
    }

    /// The hash of the stack of `place`, as [`walk`](crate::walk::walk) finds it, if what is kept here
    /// helps to find it.
    pub(crate) fn hash(&self, rules: &Rules, place: &Place, depth: Depth) -> Option<u64> {
        let (start, end) = place.stack;
        let Registers { pc, sp, bp } = place.registers;
        if !(start..end).contains(&sp) || pc as u64 > PC || depth.frames() > DEPTH_MAX {
            return None;
        }
        let own = At { key: pc as u64 | EXACT, sp: sp as u64, bp: bp as u64 };
        let mut reach = Reach::new(place);
        reach.enter(sp);
        let epoch = rules.epoch();
        if self.epoch.load(Ordering::Relaxed) != epoch {
            self.clear(epoch);
        }
        let len = self.len();
        let mut below = len;
        if let Some(top) = len.checked_sub(1)
            && let Some(innermost) = self.steps.get(top)
            && self.own.begins_in(own)
            && self.own.leads_to(innermost, &mut reach)
        {
            match self.compare(top, depth.frames(), &mut reach) {
                Compared::Same => return Some(self.hash_of(len, depth)),
                Compared::From(number) => below = number,
            }
        }
        self.walk(rules, own, below, depth, &mut reach)
    }

    /// Walks until the steps below number `below` are met, or to where the stack ends or is deep enough.
    fn walk(
        &self,
        rules: &Rules,
        own: At,
        mut below: usize,
        depth: Depth,
        reach: &mut Reach<'_>,
    ) -> Option<u64> {
        let pause = self.pause.load(Ordering::Relaxed);
        if pause > 0 {
            self.pause.store(pause - 1, Ordering::Relaxed);
            return None;
        }
        let mut fresh = Fresh { steps: [const { MaybeUninit::uninit() }; _], len: 0 };
        let mut at = own;
        loop {
            let Some((made, caller)) = made(rules, at, reach) else {
                // What is deep enough may go on as it likes.
                if fresh.len > depth.frames() {
                    return Some(self.replace(None, &fresh, depth));
                }
                self.clear(self.epoch.load(Ordering::Relaxed));
                self.pause.store(PAUSE, Ordering::Relaxed);
                return None;
            };
            fresh.push(made);
            if made.key & END != 0 || fresh.len > depth.frames() + AHEAD {
                return Some(self.replace(None, &fresh, depth));
            }
            at = caller;
            let met;
            (below, met) = self.meet(at, below);
            if let Some(number) = met {
                let left = (depth.frames() + 1).saturating_sub(fresh.len);
                match self.compare(number, left, reach) {
                    Compared::Same => return Some(self.replace(Some(number), &fresh, depth)),
                    Compared::From(number) => below = number,
                }
            }
        }
    }

    fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed) as usize
    }

    #[cold]
    fn clear(&self, epoch: u32) {
        self.len.store(0, Ordering::Relaxed);
        self.pause.store(0, Ordering::Relaxed);
        self.epoch.store(epoch, Ordering::Relaxed);
    }

    /// The step that begins in this state, of those below number `below`; and below which number those
    /// lie that may be met further out.
    #[inline(always)]
    fn meet(&self, at: At, mut below: usize) -> (usize, Option<usize>) {
        while let Some(number) = below.checked_sub(1)
            && let Some(step) = self.steps.get(number)
        {
            if step.sp.load(Ordering::Relaxed) >= at.sp {
                return (below, step.begins_in(at).then_some(number));
            }
            below = number;
        }
        (0, None)
    }

    /// Compares what `left` frames need, from that of step `number` on.
    #[inline(always)]
    fn compare(&self, number: usize, left: usize, reach: &mut Reach<'_>) -> Compared {
        let outermost = (number + 1).saturating_sub(left);
        let Some(steps) = self.steps.get(outermost..=number) else { return Compared::From(0) };
        let Some((mut inner, others)) = steps.split_last() else { return Compared::Same };
        for (number, outer) in (outermost + 1..number + 1).zip(others).rev() {
            if !inner.leads_to(outer, reach) {
                return Compared::From(number);
            }
            inner = outer;
        }
        let is_enough = number + 1 >= left || inner.key.load(Ordering::Relaxed) & END != 0;
        if is_enough { Compared::Same } else { Compared::From(0) }
    }

    /// Puts `fresh` in the place of what is inside of step `from`, or of all; the hash of it.
    fn replace(&self, from: Option<usize>, fresh: &Fresh, depth: Depth) -> u64 {
        let (own, frames) = match fresh.made() {
            [own, frames @ ..] => (own, frames),
            [] => return 0,
        };
        self.len.store(0, Ordering::Relaxed);
        let kept = from.map_or(0, |number| number + 1);
        if kept == 0 {
            self.base.store(0, Ordering::Relaxed);
        }
        let kept = self.make_room(kept, frames.len());
        let (mut hash, mut is_live) = match kept.checked_sub(1).and_then(|n| self.steps.get(n)) {
            Some(step) => {
                (step.hash.load(Ordering::Relaxed), step.key.load(Ordering::Relaxed) & LIVE != 0)
            }
            None => (self.base.load(Ordering::Relaxed), false),
        };
        for (place, made) in self.steps.iter().skip(kept).zip(frames.iter().rev()) {
            hash = hash.wrapping_mul(RATIO).wrapping_add(made.part);
            is_live = place.keep(made, hash, is_live);
        }
        self.own.keep(own, 0, is_live);
        let len = kept + frames.len();
        self.len.store(len as u32, Ordering::Relaxed);
        self.hash_of(len, depth)
    }

    /// Room for `more` steps after the first `kept`, some of which may go for it; how many stay.
    fn make_room(&self, kept: usize, more: usize) -> usize {
        if kept + more <= STEPS {
            return kept;
        }
        let gone = (kept + more).saturating_sub(STEPS - SLACK).min(kept);
        if let Some(last) = gone.checked_sub(1).and_then(|number| self.steps.get(number)) {
            self.base.store(last.hash.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        for (to, from) in self.steps.iter().zip(self.steps.iter().skip(gone)).take(kept - gone) {
            to.copy(from);
        }
        kept - gone
    }

    /// The hash of the innermost frames of `len`.
    #[inline(always)]
    fn hash_of(&self, len: usize, depth: Depth) -> u64 {
        let hash = |number: usize| {
            self.steps.get(number).map_or(0, |step| step.hash.load(Ordering::Relaxed))
        };
        let outside = match len.checked_sub(depth.frames()) {
            None => return hash(len.wrapping_sub(1)),
            Some(0) => self.base.load(Ordering::Relaxed),
            Some(first) => hash(first - 1),
        };
        hash(len.wrapping_sub(1)).wrapping_sub(depth.factor().wrapping_mul(outside))
    }
}

impl Fresh {
    #[inline(always)]
    fn push(&mut self, made: Made) {
        if let Some(place) = self.steps.get_mut(self.len) {
            place.write(made);
            self.len += 1;
        }
    }

    fn made(&self) -> &[Made] {
        let written = self.steps.get(..self.len).unwrap_or_default();
        // SAFETY: `push` wrote the first `len` of them.
        unsafe { &*(core::ptr::from_ref(written) as *const [Made]) }
    }
}
