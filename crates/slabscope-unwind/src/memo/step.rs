//! One step of a walk: as it is made, and as it is kept.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::reach::Reach;
use crate::rule::{Near, Rule, Saved};
use crate::rules::{self, Rules, mix};

pub(super) const PC: u64 = (1 << 56) - 1;
/// The address is of an instruction that was interrupted.
pub(super) const EXACT: u64 = 1 << 56;
/// This step or one outside it depends on the frame pointer that this one begins with.
pub(super) const LIVE: u64 = 1 << 57;
/// The caller's frame pointer is a word of the stack, and the caller's step is [`LIVE`].
const CHECKED: u64 = 1 << 58;
/// There is no frame beyond.
pub(super) const END: u64 = 1 << 59;

/// The step is told from the frame pointer.
const USES_BP: u64 = 1 << 60;
/// The caller's frame pointer is still in its register.
const KEEPS_BP: u64 = 1 << 61;

/// What a step begins in.
const STATE: u64 = PC | EXACT;

/// A frame on the way. Of words alone, so that each is copied as it was written.
#[derive(Clone, Copy)]
pub(super) struct At {
    /// `[flags : 8 | pc : 56]`, of [`STATE`]
    pub(super) key: u64,
    pub(super) sp: u64,
    pub(super) bp: u64,
}

/// A step just made.
#[derive(Clone, Copy)]
pub(super) struct Made {
    /// As [`Known::key`], with [`USES_BP`] and [`KEEPS_BP`].
    pub(super) key: u64,
    pub(super) sp: u64,
    pub(super) bp: u64,
    /// Where the caller's frame pointer was read, if it was.
    pub(super) bp_at: u64,
    /// What its frame counts for.
    pub(super) part: u64,
}

/// A step that was made once, and the state it begins in.
#[derive(Debug)]
pub(super) struct Known {
    /// `[flags : 8 | pc : 56]`
    pub(super) key: AtomicU64,
    pub(super) sp: AtomicU64,
    pub(super) bp: AtomicU64,
    /// Where the caller's frame pointer was read, with [`CHECKED`].
    pub(super) bp_at: AtomicU64,
    /// Of this frame and those outside it.
    pub(super) hash: AtomicU64,
}

impl Known {
    pub(super) const fn new() -> Self {
        let [key, sp, bp, bp_at, hash] = [const { AtomicU64::new(0) }; 5];
        Known { key, sp, bp, bp_at, hash }
    }

    /// Whether it begins in this state, as far as it matters.
    #[inline(always)]
    pub(super) fn begins_in(&self, at: At) -> bool {
        let key = self.key.load(Ordering::Relaxed);
        key & STATE == at.key
            && self.sp.load(Ordering::Relaxed) == at.sp
            && (key & LIVE == 0 || self.bp.load(Ordering::Relaxed) == at.bp)
    }

    /// Whether the words of the stack are those that lead to where `outer` begins.
    #[inline(always)]
    pub(super) fn leads_to(&self, outer: &Known, reach: &mut Reach<'_>) -> bool {
        let mut is = |at: u64, word: u64| reach.word(at as usize).is_some_and(|w| w as u64 == word);
        is(outer.sp.load(Ordering::Relaxed).wrapping_sub(8), outer.key.load(Ordering::Relaxed) & PC)
            && (self.key.load(Ordering::Relaxed) & CHECKED == 0
                || is(self.bp_at.load(Ordering::Relaxed), outer.bp.load(Ordering::Relaxed)))
    }

    /// Keeps a step, outside of which the frame pointer matters or not; whether inside of it it does.
    #[inline(always)]
    pub(super) fn keep(&self, made: &Made, hash: u64, is_live: bool) -> bool {
        let live = made.key & USES_BP != 0 || made.key & KEEPS_BP != 0 && is_live;
        let checked = is_live && made.key & KEEPS_BP == 0;
        let flags = if live { LIVE } else { 0 } | if checked { CHECKED } else { 0 };
        self.key.store(made.key | flags, Ordering::Relaxed);
        self.sp.store(made.sp, Ordering::Relaxed);
        self.bp.store(made.bp, Ordering::Relaxed);
        self.bp_at.store(made.bp_at, Ordering::Relaxed);
        self.hash.store(hash, Ordering::Relaxed);
        live
    }

    pub(super) fn copy(&self, from: &Known) {
        let words = |known: &Known| {
            let Known { key, sp, bp, bp_at, hash } = known;
            [key, sp, bp, bp_at, hash].map(|word| word.load(Ordering::Relaxed))
        };
        let Known { key, sp, bp, bp_at, hash } = self;
        for (to, word) in [key, sp, bp, bp_at, hash].into_iter().zip(words(from)) {
            to.store(word, Ordering::Relaxed);
        }
    }
}

/// The step from `at`, and where it leads to: one of the usual ones within a stack, or the last one.
#[inline(always)]
pub(super) fn made(rules: &Rules, at: At, reach: &mut Reach<'_>) -> Option<(Made, At)> {
    let At { key, sp, bp } = at;
    let is_exact = key / EXACT;
    let address = (key & PC).wrapping_sub(1 - is_exact) as usize;
    let mixed = mix(address);
    let made = |flags, bp_at| {
        let part = mixed.wrapping_add(is_exact);
        Made { key: key | flags, sp, bp, bp_at, part }
    };
    let cached = rules.cached(mixed);
    if cached == rules::word(mixed, Rule::FRAME_POINTER)
        && let Some((caller, pc)) = reach.pair_from(sp as usize, bp as usize)
        && pc != 0
        && pc as u64 <= PC
    {
        return Some((made(USES_BP, bp), At { key: pc as u64, sp: bp + 16, bp: caller as u64 }));
    }
    let rule = rules.find_from(cached, address, mixed);
    let Some(Near { from_bp, offset, bp: saved, interrupts }) = rule.near() else {
        return rule.is_end().then_some((made(END | KEEPS_BP, 0), at));
    };
    let cfa = if from_bp { bp } else { sp }.wrapping_add_signed(offset);
    if cfa <= sp {
        return None;
    }
    let uses_bp = if from_bp { USES_BP } else { 0 };
    let (flags, bp_at) = match saved {
        Saved::Kept => (uses_bp | KEEPS_BP, 0),
        Saved::BelowCfa(offset) => (uses_bp, cfa.wrapping_add_signed(-offset)),
        Saved::AtBp => (USES_BP, bp),
    };
    let bp = if flags & KEEPS_BP != 0 { bp } else { reach.word(bp_at as usize)? as u64 };
    let pc = reach.word(cfa.wrapping_sub(8) as usize)? as u64;
    if pc == 0 || pc > PC {
        return None;
    }
    let exact = if interrupts { EXACT } else { 0 };
    Some((made(flags, bp_at), At { key: pc | exact, sp: cfa, bp }))
}
