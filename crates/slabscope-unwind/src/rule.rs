//! One step from a frame to the one that called it, in 31 bits.
//!
//! Nearly all code that compilers make can be unwound by two registers: the canonical frame address
//! (CFA, the stack pointer before the call) is `rsp` or `rbp` and a distance, the return address lies
//! just below it, and `rbp` is either as it was or saved at a distance from the CFA. A few shapes more
//! are code of libraries written by hand. What has no rule cannot be unwound.

/// How to make the step. See [`Step`] for what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule(u32);

/// What a rule says, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nobody knows.
    None,
    /// A thread begins here.
    End,
    /// The CFA is the stack pointer and so many bytes.
    FromSp { offset: i64, bp: Saved, interrupts: bool },
    /// The CFA is the frame pointer and so many bytes.
    FromBp { offset: i64, bp: Saved, interrupts: bool },
    /// The CFA is a word, so far from the frame pointer, and so many bytes. The return address
    /// lies `ra` bytes below it.
    ThroughBp { at: i64, offset: i64, ra: i64, bp: Saved, interrupts: bool },
    /// The kernel called a signal handler here: all registers are on the stack.
    Signal,
    /// A stub of the procedure linkage table, which pushes one word half way.
    Linkage,
}

/// A step by [`Step::FromSp`] or [`Step::FromBp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Near {
    /// Whether the CFA is told from the frame pointer.
    pub(crate) from_bp: bool,
    /// So many bytes from the one or the other.
    pub(crate) offset: i64,
    pub(crate) bp: Saved,
    pub(crate) interrupts: bool,
}

/// Where the caller's frame pointer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Saved {
    /// Still in its register.
    Kept,
    /// So many bytes below the CFA.
    BelowCfa(i64),
    /// Where the frame pointer points to.
    AtBp,
}

const KIND_BITS: u32 = 3;
const SAVED_BITS: u32 = 7;
const REST_SHIFT: u32 = KIND_BITS + SAVED_BITS;
/// Bits of a rule.
pub(crate) const BITS: u32 = 31;

const NONE: u32 = 1;
const END: u32 = 2;
const FROM_SP: u32 = 3;
const FROM_BP: u32 = 4;
const THROUGH_BP: u32 = 5;
const SIGNAL: u32 = 6;
const LINKAGE: u32 = 7;

const SAVED_AT_BP: u32 = (1 << SAVED_BITS) - 1;

impl Rule {
    /// Of an address that is known to have none.
    pub(crate) const NONE: Rule = Rule(NONE);

    /// A function that keeps a frame pointer, once it has set it up.
    pub(crate) const FRAME_POINTER: Rule =
        match Rule::new(Step::FromBp { offset: 16, bp: Saved::BelowCfa(16), interrupts: false }) {
            Some(rule) => rule,
            None => Rule::NONE,
        };

    /// The rule of a step; `None` for distances that no function has.
    pub(crate) const fn new(step: Step) -> Option<Rule> {
        let (kind, rest, bp) = match step {
            Step::None => (NONE, Some(0), Saved::Kept),
            Step::End => (END, Some(0), Saved::Kept),
            Step::Signal => (SIGNAL, Some(0), Saved::Kept),
            Step::Linkage => (LINKAGE, Some(0), Saved::Kept),
            Step::FromSp { offset, bp, interrupts } => {
                (FROM_SP, distance(offset, 20, interrupts), bp)
            }
            Step::FromBp { offset, bp, interrupts } => {
                (FROM_BP, distance(offset, 20, interrupts), bp)
            }
            Step::ThroughBp { at, offset, ra, bp, interrupts } => {
                let rest = match (words(at, 8), words(offset, 8), words(ra, 4)) {
                    (Some(at), Some(offset), Some(ra)) => {
                        Some(ra << 17 | offset << 9 | at << 1 | interrupts as u32)
                    }
                    _ => None,
                };
                (THROUGH_BP, rest, bp)
            }
        };
        let saved = match bp {
            Saved::Kept => Some(0),
            Saved::AtBp => Some(SAVED_AT_BP),
            Saved::BelowCfa(bytes) => match bytes / 8 {
                words @ 1..=126 if bytes % 8 == 0 => Some(words as u32),
                _ => None,
            },
        };
        match (rest, saved) {
            (Some(rest), Some(saved)) => Some(Rule(rest << REST_SHIFT | saved << KIND_BITS | kind)),
            _ => None,
        }
    }

    /// The rule in these bits.
    #[inline]
    pub(crate) const fn from_bits(bits: u32) -> Rule {
        Rule(bits)
    }

    /// Its bits, [`BITS`] of them and never zero.
    #[inline]
    pub(crate) const fn bits(self) -> u32 {
        self.0
    }

    /// The two usual steps, told apart without a branch; `None` for the others.
    #[inline(always)]
    pub(crate) const fn near(self) -> Option<Near> {
        let kind = self.0 & ((1 << KIND_BITS) - 1);
        if kind != FROM_SP && kind != FROM_BP {
            return None;
        }
        let rest = self.0 >> REST_SHIFT;
        Some(Near {
            from_bp: kind == FROM_BP,
            offset: signed(rest >> 1, 20) * 8,
            bp: self.saved(),
            interrupts: rest & 1 != 0,
        })
    }

    #[inline(always)]
    const fn saved(self) -> Saved {
        match self.0 >> KIND_BITS & SAVED_AT_BP {
            0 => Saved::Kept,
            SAVED_AT_BP => Saved::AtBp,
            words => Saved::BelowCfa(words as i64 * 8),
        }
    }

    /// Whether no frame is beyond.
    #[inline(always)]
    pub(crate) const fn is_end(self) -> bool {
        self.0 & ((1 << KIND_BITS) - 1) == END
    }

    /// What it says.
    #[inline]
    pub(crate) const fn step(self) -> Step {
        if let Some(Near { from_bp, offset, bp, interrupts }) = self.near() {
            return match from_bp {
                true => Step::FromBp { offset, bp, interrupts },
                false => Step::FromSp { offset, bp, interrupts },
            };
        }
        let bp = self.saved();
        let rest = self.0 >> REST_SHIFT;
        let interrupts = rest & 1 != 0;
        match self.0 & ((1 << KIND_BITS) - 1) {
            END => Step::End,
            THROUGH_BP => Step::ThroughBp {
                at: signed(rest >> 1, 8) * 8,
                offset: signed(rest >> 9, 8) * 8,
                ra: signed(rest >> 17, 4) * 8,
                bp,
                interrupts,
            },
            SIGNAL => Step::Signal,
            LINKAGE => Step::Linkage,
            _ => Step::None,
        }
    }
}

/// A distance in words of eight bytes, in so many bits; `None` if it is none or does not fit.
const fn words(bytes: i64, bits: u32) -> Option<u32> {
    let words = bytes / 8;
    let fits = bytes % 8 == 0 && words >= -(1 << (bits - 1)) && words < 1 << (bits - 1);
    if fits { Some(words as u32 & ((1 << bits) - 1)) } else { None }
}

const fn distance(bytes: i64, bits: u32, interrupts: bool) -> Option<u32> {
    match words(bytes, bits) {
        Some(words) => Some(words << 1 | interrupts as u32),
        None => None,
    }
}

/// The number in the low `bits` bits.
const fn signed(value: u32, bits: u32) -> i64 {
    ((value << (32 - bits)) as i32 >> (32 - bits)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_survive_a_round_trip() {
        let steps = [
            Step::None,
            Step::End,
            Step::Signal,
            Step::Linkage,
            Step::FromSp { offset: 8, bp: Saved::Kept, interrupts: false },
            Step::FromSp { offset: 4 << 20 >> 1, bp: Saved::BelowCfa(56), interrupts: false },
            Step::FromBp { offset: 16, bp: Saved::BelowCfa(16), interrupts: true },
            Step::FromBp { offset: -64, bp: Saved::AtBp, interrupts: false },
            Step::ThroughBp {
                at: -8,
                offset: 24,
                ra: 16,
                bp: Saved::BelowCfa(24),
                interrupts: true,
            },
        ];
        for step in steps {
            let rule = Rule::new(step).unwrap();
            assert_eq!(rule.step(), step);
            let near = match step {
                Step::FromSp { offset, bp, interrupts } => Some((false, offset, bp, interrupts)),
                Step::FromBp { offset, bp, interrupts } => Some((true, offset, bp, interrupts)),
                _ => None,
            };
            let found = rule.near();
            assert_eq!(found.map(|n| (n.from_bp, n.offset, n.bp, n.interrupts)), near);
            assert!(rule.bits() != 0 && rule.bits() >> BITS == 0);
        }
        for offset in [4, 8 << 20, -(8 << 20)] {
            let step = Step::FromSp { offset, bp: Saved::Kept, interrupts: false };
            assert_eq!(Rule::new(step), None);
        }
        let step = Step::FromSp { offset: 8, bp: Saved::BelowCfa(1024), interrupts: false };
        assert_eq!(Rule::new(step), None);
        assert_ne!(Rule::FRAME_POINTER, Rule::NONE);
    }
}
