//! The few DWARF expressions that unwind tables really have.

/// Register numbers of x86-64, as DWARF has them.
pub(crate) const RBP: u16 = 6;
/// See [`RBP`].
pub(crate) const RSP: u16 = 7;
/// The return address.
pub(crate) const RA: u16 = 16;

const BREG0: u8 = 0x70;
const DEREF: u8 = 0x06;
const PLUS_UCONST: u8 = 0x23;

/// What an expression says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A register and so many bytes.
    At(u16, i64),
    /// The word at a register and so many bytes, and so many bytes more.
    Through(u16, i64, i64),
    /// The procedure linkage table's: one word more from the eleventh byte of each stub on.
    Linkage,
}

/// `rsp + 8 + ((rip & 15) >= 11 ? 8 : 0)`, as linkers write it.
const LINKAGE: [u8; 11] = [BREG0 + 7, 8, BREG0 + 16, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22];

/// The shape of an expression; `None` for one we do not know.
pub(crate) fn shape(code: &[u8]) -> Option<Shape> {
    if code == LINKAGE {
        return Some(Shape::Linkage);
    }
    let (&operation, rest) = code.split_first()?;
    let register = operation.checked_sub(BREG0).filter(|&register| register < 32)?;
    let (at, rest) = signed(rest)?;
    let register = u16::from(register);
    match rest {
        [] => Some(Shape::At(register, at)),
        [DEREF] => Some(Shape::Through(register, at, 0)),
        [DEREF, PLUS_UCONST, offset @ ..] => match signed(offset)? {
            // An unsigned number of one byte is the same below 64.
            (offset @ 0.., []) => Some(Shape::Through(register, at, offset)),
            _ => None,
        },
        _ => None,
    }
}

/// A signed LEB128 number of two bytes at most, and what is behind it.
fn signed(bytes: &[u8]) -> Option<(i64, &[u8])> {
    match bytes {
        [byte, rest @ ..] if byte & 0x80 == 0 => Some((i64::from((byte << 1) as i8 >> 1), rest)),
        [low, high, rest @ ..] if high & 0x80 == 0 => {
            let value = u16::from(low & 0x7f) | u16::from(*high) << 7;
            Some((i64::from((value << 2) as i16 >> 2), rest))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_shapes_are_recognised() {
        assert_eq!(shape(&[0x76, 0x78, 0x06]), Some(Shape::Through(RBP, -8, 0)));
        assert_eq!(shape(&[0x77, 0xa0, 0x01, 0x06]), Some(Shape::Through(RSP, 160, 0)));
        assert_eq!(shape(&[0x76, 0, 0x06, 0x23, 0x18]), Some(Shape::Through(RBP, 0, 24)));
        assert_eq!(shape(&[0x76, 0]), Some(Shape::At(RBP, 0)));
        assert_eq!(shape(&[0x77, 0xf8, 0x7e]), Some(Shape::At(RSP, -136)));
        assert_eq!(shape(&LINKAGE), Some(Shape::Linkage));
        assert_eq!(shape(&[0x76]), None);
        assert_eq!(shape(&[]), None);
        assert_eq!(shape(&[0x30, 0x22]), None);
    }
}
