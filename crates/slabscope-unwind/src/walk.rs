//! From frame to frame.

use slabscope_os::registers::Registers;
use slabscope_wire::alloc_free::frame;

use crate::reach::{Place, Reach};
use crate::rule::{Near, Rule, Saved, Step};
use crate::rules::{self, Rules, mix};
use crate::stack::{CallStack, Depth, Frame, RATIO};

/// Where the kernel keeps registers in the frame a signal handler returns to, in bytes from the
/// stack pointer then: `ucontext_t`'s.
pub(crate) const SIGNAL_SP: i64 = 160;
const SIGNAL_BP: usize = 120;
const SIGNAL_PC: usize = 168;

/// A frame being looked at.
#[derive(Clone, Copy)]
struct At {
    registers: Registers,
    /// Whether its address is of an instruction that was interrupted, and not behind a call.
    exact: bool,
}

/// How a step ended.
enum Stepped {
    To(At),
    /// There is no frame beyond.
    End,
    /// There is, and it cannot be found.
    Lost,
}

/// Walks from the caller of the function that stands at `place`: `depth` frames at most, into an
/// empty `stack`.
#[inline]
pub(crate) fn walk(rules: &Rules, place: &Place, depth: Depth, stack: &mut CallStack) {
    let mut reach = Reach::new(place);
    let Registers { pc, sp, .. } = place.registers;
    if !reach.enter(sp) {
        return;
    }
    let own = At { registers: place.registers, exact: true };
    let Stepped::To(mut at) = step(rules.find(pc, mix(pc)), own, &mut reach) else { return };
    let (mut hash, mut factor) = (0_u64, 1_u64);
    loop {
        let Registers { pc, sp, bp } = at.registers;
        let key = pc.wrapping_sub(usize::from(!at.exact));
        let mixed = mix(key);
        let part = mixed.wrapping_add(u64::from(at.exact));
        hash = hash.wrapping_add(part.wrapping_mul(factor));
        factor = factor.wrapping_mul(RATIO);
        let cached = rules.cached(mixed);
        let exact = if at.exact { frame::EXACT } else { 0 };
        let is_last = stack.len() + 1 == depth.frames();
        if cached == rules::word(mixed, Rule::FRAME_POINTER)
            && !is_last
            && let Some((bp, pc)) = reach.pair_from(sp, bp)
            && pc != 0
        {
            stack.push(Frame::new(at.registers.pc, exact));
            let sp = at.registers.bp + 16;
            at = At { registers: Registers { pc, sp, bp }, exact: false };
            continue;
        }
        let rule = rules.find_from(cached, key, mixed);
        let by_table = if rule == Rule::FRAME_POINTER { 0 } else { frame::BY_TABLE };
        let next = match is_last {
            false => step(rule, at, &mut reach),
            true => Stepped::Lost,
        };
        let flags = match next {
            Stepped::To(_) => by_table,
            Stepped::End => 0,
            Stepped::Lost => match (is_last, rule.step()) {
                (true, Step::End) => 0,
                (true, Step::None) | (false, _) => frame::TRUNCATED,
                (true, _) => frame::CUT,
            },
        };
        stack.push(Frame::new(pc, exact | flags));
        match next {
            Stepped::To(next) => at = next,
            _ => break,
        }
    }
    stack.set_hash(hash);
}

/// One step by `rule`.
#[inline(always)]
fn step(rule: Rule, at: At, reach: &mut Reach<'_>) -> Stepped {
    let Registers { sp, bp, .. } = at.registers;
    let Some(Near { from_bp, offset, bp: saved, interrupts }) = rule.near() else {
        return match rule.step() {
            Step::End => Stepped::End,
            rule => step_aside(rule, at, reach).unwrap_or(Stepped::Lost),
        };
    };
    let cfa = moved(if from_bp { bp } else { sp }, offset);
    // Each step goes up, so a broken stack cannot be walked for ever.
    if cfa <= sp {
        return Stepped::Lost;
    }
    let bp = match saved {
        Saved::Kept => Some(bp),
        Saved::BelowCfa(offset) => reach.word(moved(cfa, -offset)),
        Saved::AtBp => reach.word(bp),
    };
    match (bp, reach.word(cfa.wrapping_sub(8))) {
        (Some(_), Some(0)) => Stepped::End,
        (Some(bp), Some(pc)) => {
            Stepped::To(At { registers: Registers { pc, sp: cfa, bp }, exact: interrupts })
        }
        _ => Stepped::Lost,
    }
}

/// The steps that lead to another stack, or may.
#[cold]
#[inline(never)]
fn step_aside(rule: Step, at: At, reach: &mut Reach<'_>) -> Option<Stepped> {
    let Registers { pc, sp, bp } = at.registers;
    match rule {
        Step::ThroughBp { at, offset, ra, bp: saved, interrupts } => {
            let cfa = moved(reach.word(moved(bp, at))?, offset);
            let kept = match saved {
                Saved::AtBp => Some(reach.word(bp)?),
                Saved::Kept => Some(bp),
                Saved::BelowCfa(_) => None,
            };
            let below = match saved {
                Saved::BelowCfa(offset) => offset.max(ra),
                _ => ra,
            };
            if !reach.enter(moved(cfa, -below)) {
                return None;
            }
            let bp = match (kept, saved) {
                (None, Saved::BelowCfa(offset)) => reach.word(moved(cfa, -offset))?,
                (kept, _) => kept?,
            };
            let pc = reach.word(moved(cfa, -ra))?;
            let registers = Registers { pc, sp: cfa, bp };
            Some(if pc == 0 {
                Stepped::End
            } else {
                Stepped::To(At { registers, exact: interrupts })
            })
        }
        Step::Signal => {
            let registers = Registers {
                bp: reach.word(sp.wrapping_add(SIGNAL_BP))?,
                sp: reach.word(moved(sp, SIGNAL_SP))?,
                pc: reach.word(sp.wrapping_add(SIGNAL_PC))?,
            };
            let found = registers.pc != 0 && reach.enter(registers.sp);
            found.then_some(Stepped::To(At { registers, exact: true }))
        }
        Step::Linkage => {
            let cfa = sp.wrapping_add(8 + 8 * usize::from(pc & 15 >= 11));
            let pc = reach.word(cfa.wrapping_sub(8))?;
            Some(Stepped::To(At { registers: Registers { pc, sp: cfa, bp }, exact: false }))
        }
        _ => None,
    }
}

#[inline(always)]
fn moved(address: usize, offset: i64) -> usize {
    address.wrapping_add_signed(offset as isize)
}
