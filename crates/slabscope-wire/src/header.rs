//! The sixteen bytes a trace begins with.

/// Length of the file header, in bytes.
pub const LEN: usize = 16;

/// The newest format version, and the one we write: that of Go 1.26 and 1.27.
pub const NEWEST: u8 = 26;

/// The header we write.
pub const BYTES: [u8; LEN] = *b"go 1.26 trace\0\0\0";

/// Why bytes are not the header of a trace we read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// Fewer than [`LEN`] bytes.
    Truncated,
    /// Not `go 1.NN trace` with three NUL bytes.
    NotATrace,
    /// The older format that Go 1.21 and before wrote.
    TooOld(u8),
    /// A format version nobody has published yet.
    Unknown(u8),
}

/// Reads the format version (22, 23, 25 or 26) from the start of a trace.
///
/// # Errors
/// See [`HeaderError`].
pub fn parse(bytes: &[u8]) -> Result<u8, HeaderError> {
    let Some(head) = bytes.first_chunk::<LEN>() else {
        return Err(HeaderError::Truncated);
    };
    let [b'g', b'o', b' ', b'1', b'.', tens, ones, rest @ ..] = *head else {
        return Err(HeaderError::NotATrace);
    };
    if rest != *b" trace\0\0\0" || !tens.is_ascii_digit() || !ones.is_ascii_digit() {
        return Err(HeaderError::NotATrace);
    }
    match (tens - b'0') * 10 + (ones - b'0') {
        version @ (22 | 23 | 25 | 26) => Ok(version),
        version @ (11 | 19 | 21) => Err(HeaderError::TooOld(version)),
        version => Err(HeaderError::Unknown(version)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_told_apart() {
        assert_eq!(parse(&BYTES), Ok(NEWEST));
        assert_eq!(parse(b"go 1.21 trace\0\0\0"), Err(HeaderError::TooOld(21)));
        assert_eq!(parse(b"go 1.24 trace\0\0\0"), Err(HeaderError::Unknown(24)));
        assert_eq!(parse(b"go 1.5 trace\0\0\0\0"), Err(HeaderError::NotATrace));
        assert_eq!(parse(b"go 1.26 tr"), Err(HeaderError::Truncated));
        assert_eq!(parse(b"\x7fELF............"), Err(HeaderError::NotATrace));
    }
}
