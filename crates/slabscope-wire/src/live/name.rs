//! The names of types that the program declared, as the live file keeps them.
//!
//! They lie one after the other in units of 64 bytes: a word that is the name's length in bytes, then its
//! bytes, eight to a word, padded with NULs. A name's number is that of its first unit. Unit 0 stays
//! free, so that 0 is no name. A length of 0 is that of a name that was never written to its end.

/// Bytes of a unit.
pub const UNIT: usize = 64;

/// Units there can be: a number has 16 bits.
pub const UNITS: usize = 1 << 16;

/// The longest name, in bytes. It is what Go's reader takes for a string.
pub const LEN_MAX: usize = 1024;

/// Words of a unit.
pub const WORDS: usize = UNIT / size_of::<u64>();

/// How many units a name of `len` bytes takes, its length included.
pub const fn units(len: usize) -> usize {
    (size_of::<u64>() + len).div_ceil(UNIT)
}

/// As much of a name as is kept: whole characters, [`LEN_MAX`] bytes at most.
#[inline]
pub fn cut(name: &str) -> &str {
    if name.len() <= LEN_MAX {
        return name;
    }
    name.get(..name.floor_char_boundary(LEN_MAX)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_between_characters_and_take_whole_units() {
        const LONG: &str = match str::from_utf8(&[b'x'; LEN_MAX + 1]) {
            Ok(text) => text,
            Err(_) => "",
        };
        assert_eq!((cut("short"), cut(LONG).len()), ("short", LEN_MAX));
        const BYTES: [[u8; 3]; 342] = [*"\u{20ac}".as_bytes().first_chunk::<3>().unwrap(); 342];
        let wide = str::from_utf8(BYTES.as_flattened()).unwrap();
        assert_eq!(cut(wide).len(), 1023);
        assert_eq!([0, 1, 56, 57, LEN_MAX].map(units), [1, 1, 1, 2, 17]);
    }
}
