//! Unsigned LEB128: seven bits a byte, least significant first, at most ten bytes.

/// The longest encoding of a `u64`, in bytes.
pub const LEN_MAX: usize = 10;

/// Why a varint could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarintError {
    /// The bytes ended before the last byte of the number.
    Truncated,
    /// The number does not fit 64 bits, or is longer than [`LEN_MAX`].
    Overflow,
}

impl core::fmt::Display for VarintError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            VarintError::Truncated => "a number is cut off",
            VarintError::Overflow => "a number does not fit 64 bits",
        })
    }
}

impl core::error::Error for VarintError {}

/// Encodes `value`; returns the bytes and how many of them count.
#[inline]
pub const fn encode(mut value: u64) -> ([u8; LEN_MAX], usize) {
    let mut bytes = [0; LEN_MAX];
    let mut len = 0;
    while value >= 0x80 {
        bytes[len] = value as u8 | 0x80;
        value >>= 7;
        len += 1;
    }
    bytes[len] = value as u8;
    (bytes, len + 1)
}

/// The length of the encoding of `value`, in bytes.
#[inline]
pub const fn len(value: u64) -> usize {
    // One byte carries seven bits; zero still needs one byte.
    (70 - (value | 1).leading_zeros() as usize) / 7
}

/// The largest number [`encode_short`] encodes.
pub const SHORT_MAX: u64 = (1 << 42) - 1;

/// Encodes `value`, up to [`SHORT_MAX`], into the low bytes of a word; returns how many count, 6 at
/// most, the others being 0. Without a branch: lengths of ids are not to be predicted.
#[inline]
pub const fn encode_short(value: u64) -> (u64, u32) {
    let bits = 64 - (value | 1).leading_zeros();
    // Rounded up, of 42 bits at most: a seventh is 37 of 256 and a little more.
    let len = (bits * 37 + 220) >> 8;
    // Sevens of bits to bytes, by halves: fourteen twice, then seven.
    let value = (value & 0xfff_ffff) | (value & 0xfff_f000_0000) << 4;
    let value = (value & 0x3fff_0000_3fff) | (value & 0x0fff_c000_0fff_c000) << 2;
    let value = (value & 0x007f_007f_007f_007f) | (value & 0x3f80_3f80_3f80_3f80) << 1;
    let goes_on = 0x8080_8080_8080_8080 & ((1 << (8 * (len - 1))) - 1);
    (value | goes_on, len)
}

/// Decodes the number at the start of `bytes`; returns it and its length in bytes.
///
/// Zero-padded forms are legal, as Go pads batch lengths to ten bytes.
///
/// # Errors
/// [`VarintError::Truncated`] when `bytes` ends inside the number, [`VarintError::Overflow`] when
/// it does not fit 64 bits.
#[inline]
pub fn decode(bytes: &[u8]) -> Result<(u64, usize), VarintError> {
    let mut value = 0_u64;
    for (index, &byte) in bytes.iter().take(LEN_MAX).enumerate() {
        // The tenth byte has room for one bit only.
        if index == LEN_MAX - 1 && byte > 1 {
            return Err(VarintError::Overflow);
        }
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return Ok((value, index + 1));
        }
    }
    Err(if bytes.len() < LEN_MAX { VarintError::Truncated } else { VarintError::Overflow })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_survives_a_round_trip() {
        for shift in 0..64 {
            for value in [1_u64 << shift, (1 << shift) - 1, u64::MAX >> shift] {
                let (bytes, n) = encode(value);
                assert_eq!(len(value), n, "{value}");
                assert_eq!(decode(&bytes[..n]), Ok((value, n)));
                assert_eq!(decode(&bytes[..n - 1]), Err(VarintError::Truncated));
            }
        }
    }

    #[test]
    fn short_numbers_are_encoded_as_all_numbers_are() {
        let around = (0..42).flat_map(|shift| [(1_u64 << shift) - 1, 1 << shift, (1 << shift) + 1]);
        let mut visited = 0;
        for value in around.chain([SHORT_MAX, SHORT_MAX / 3, SHORT_MAX / 5 * 2]) {
            let (word, len) = encode_short(value);
            let (bytes, expected) = encode(value);
            assert_eq!(len as usize, expected, "{value}");
            assert_eq!(word.to_le_bytes()[..], bytes[..8], "{value}");
            visited += 1;
        }
        assert_eq!(visited, 129);
    }

    #[test]
    fn padding_is_legal_and_overflow_is_not() {
        let padded = [0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0];
        assert_eq!(decode(&padded), Ok((1, 10)));
        assert_eq!(decode(&[0xff; 9]), Err(VarintError::Truncated));
        assert_eq!(decode(&[0xff; 10]), Err(VarintError::Overflow));
        let mut too_big = [0xff; 10];
        too_big[9] = 2;
        assert_eq!(decode(&too_big), Err(VarintError::Overflow));
    }
}
