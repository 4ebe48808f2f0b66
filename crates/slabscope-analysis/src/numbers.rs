//! Numbers of few bytes where they are small, for what is kept beside a trace.

use slabscope_wire::varint;

/// Appends a number.
pub(crate) fn write(number: u64, out: &mut Vec<u8>) {
    let (bytes, len) = varint::encode(number);
    out.extend_from_slice(bytes.get(..len).unwrap_or_default());
}

/// Appends the difference of two numbers: of few bytes where they are near to each other.
pub(crate) fn write_near(number: i64, near: i64, out: &mut Vec<u8>) {
    let difference = number.wrapping_sub(near);
    write((difference << 1 ^ difference >> 63) as u64, out);
}

/// Bytes that numbers are read from.
pub(crate) struct Reading<'a>(&'a [u8]);

impl<'a> Reading<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reading<'a> {
        Reading(bytes)
    }

    /// The next number.
    #[inline]
    pub(crate) fn number(&mut self) -> Option<u64> {
        let (number, len) = varint::decode(self.0).ok()?;
        self.0 = self.0.get(len..)?;
        Some(number)
    }

    /// The next number, which was written as the difference from `near`.
    #[inline]
    pub(crate) fn near(&mut self, near: i64) -> Option<i64> {
        let number = self.number()?;
        let difference = (number >> 1) as i64 ^ -((number & 1) as i64);
        Some(near.wrapping_add(difference))
    }

    /// Whether nothing is left.
    pub(crate) fn is_done(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let mut out = Vec::new();
        let pairs = [(0, 0), (5, 7), (7, 5), (i64::MIN, i64::MAX), (i64::MAX, i64::MIN), (-1, 9)];
        for (number, near) in pairs {
            write_near(number, near, &mut out);
            write(number as u64, &mut out);
        }
        let mut reading = Reading::new(&out);
        for (number, near) in pairs {
            assert_eq!(reading.near(near), Some(number));
            assert_eq!(reading.number(), Some(number as u64));
        }
        assert!(reading.is_done());
        assert_eq!(reading.number(), None);
    }
}
