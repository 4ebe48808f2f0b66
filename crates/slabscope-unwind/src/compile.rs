//! From a module's `.eh_frame` to a table of rules.

use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, FrameDescriptionEntry, LittleEndian,
    Register, RegisterRule, UnwindContext, UnwindContextStorage, UnwindExpression, UnwindSection,
    UnwindTableRow,
};

use crate::expression::{RA, RBP, RSP, Shape, shape};
use crate::rule::{Rule, Saved, Step};
use crate::table::{Builder, Table};

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Fde<'a> = FrameDescriptionEntry<Slice<'a>, usize>;

/// Room for rules of 17 registers, in rows that remember each other four deep.
struct Storage;

impl UnwindContextStorage<usize> for Storage {
    type Rules = [(Register, RegisterRule<usize>); 32];
    type Stack = [UnwindTableRow<usize, Self>; 4];
}

/// A copy of both sections, and where they lie in the program.
pub(crate) struct Sections<'a> {
    /// `.eh_frame_hdr`, the sorted index.
    pub(crate) index: &'a [u8],
    pub(crate) index_at: u64,
    /// `.eh_frame`, and maybe what lies behind it.
    pub(crate) frames: &'a [u8],
    pub(crate) frames_at: u64,
}

/// Where `.eh_frame` begins, by the start of an `.eh_frame_hdr` that lies at `at`.
pub(crate) fn frames_at(index: &[u8], at: u64) -> Option<u64> {
    let bases = BaseAddresses::default().set_eh_frame_hdr(at);
    let header = EhFrameHdr::new(index, LittleEndian).parse(&bases, 8).ok()?;
    header.eh_frame_ptr().direct().ok()
}

/// The rules of the module whose first address is `first`. `None` without memory; functions whose
/// tables cannot be read have no rule.
pub(crate) fn compile(sections: &Sections<'_>, first: u64) -> Option<Table> {
    let bases = BaseAddresses::default()
        .set_eh_frame_hdr(sections.index_at)
        .set_eh_frame(sections.frames_at);
    let Ok(header) = EhFrameHdr::new(sections.index, LittleEndian).parse(&bases, 8) else {
        return Some(Table::EMPTY);
    };
    let Some(index) = header.table() else { return Some(Table::EMPTY) };
    let frames = EhFrame::new(sections.frames, LittleEndian);
    // A row takes two bytes at least of what it is made from, a function twenty.
    let mut builder = Builder::new(sections.frames.len() / 2)?;
    let mut context = UnwindContext::<usize, Storage>::new_in();
    let mut functions = index.iter(&bases);
    while let Ok(Some((_, pointer))) = functions.next() {
        let Ok(offset) = index.pointer_to_offset(pointer) else { continue };
        let Ok(fde) = frames.fde_from_offset(&bases, offset, EhFrame::cie_from_offset) else {
            continue;
        };
        add(&mut builder, &fde, &frames, &bases, &mut context, first)?;
    }
    Some(builder.finish())
}

/// Adds the rows of one function, and the gap behind it.
fn add(
    builder: &mut Builder,
    fde: &Fde<'_>,
    frames: &EhFrame<Slice<'_>>,
    bases: &BaseAddresses,
    context: &mut UnwindContext<usize, Storage>,
    first: u64,
) -> Option<()> {
    let offset = |address: u64| u32::try_from(address.checked_sub(first)?).ok();
    let interrupts = fde.is_signal_trampoline();
    let (Some(start), Some(end)) = (offset(fde.initial_address()), offset(fde.end_address()))
    else {
        return Some(());
    };
    if start >= end {
        return Some(());
    }
    builder.push(start, Rule::NONE)?;
    if let Ok(mut rows) = fde.rows(frames, bases, context) {
        while let Ok(Some(row)) = rows.next_row() {
            if let Some(at) = offset(row.start_address()) {
                builder.push(at, rule(row, frames, interrupts).unwrap_or(Rule::NONE))?;
            }
        }
    }
    builder.push(end, Rule::NONE)
}

/// The rule of one row; `None` when it cannot be told in our way.
fn rule(
    row: &UnwindTableRow<usize, Storage>,
    frames: &EhFrame<Slice<'_>>,
    interrupts: bool,
) -> Option<Rule> {
    let expression =
        |expression: &UnwindExpression<usize>| shape(expression.get(frames).ok()?.0.slice());
    let ra = match row.register(Register(RA)) {
        None | Some(RegisterRule::Undefined) => return Rule::new(Step::End),
        Some(RegisterRule::Offset(offset)) => -offset,
        // The kernel's frame is the only one that has it elsewhere; its CFA says so below.
        Some(RegisterRule::Expression(_)) => 0,
        Some(_) => return None,
    };
    let bp = match row.register(Register(RBP)) {
        None | Some(RegisterRule::Undefined | RegisterRule::SameValue) => Some(Saved::Kept),
        Some(RegisterRule::Offset(offset)) => Some(Saved::BelowCfa(-offset)),
        Some(RegisterRule::Expression(code)) => match expression(&code) {
            Some(Shape::At(RBP, 0)) => Some(Saved::AtBp),
            _ => None,
        },
        Some(_) => None,
    };
    let step = match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } if ra == 8 => match register.0 {
            RSP => Step::FromSp { offset: *offset, bp: bp?, interrupts },
            RBP => Step::FromBp { offset: *offset, bp: bp?, interrupts },
            _ => return None,
        },
        CfaRule::RegisterAndOffset { .. } => return None,
        CfaRule::Expression(code) => match expression(code)? {
            // Where the kernel saves `rsp` in the frame that a handler returns to.
            Shape::Through(RSP, at, 0) if interrupts && at == crate::walk::SIGNAL_SP => {
                Step::Signal
            }
            Shape::Through(RBP, at, offset) if ra > 0 => {
                Step::ThroughBp { at, offset, ra, bp: bp?, interrupts }
            }
            Shape::Linkage if ra == 8 => Step::Linkage,
            _ => return None,
        },
    };
    Rule::new(step)
}
