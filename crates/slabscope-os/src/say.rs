//! Speaking to the person at the terminal without stdio, which allocates.

use crate::errno::ErrnoGuard;

/// The longest line, in bytes; what is more is cut.
const LINE_MAX: usize = 1024;

/// Writes `slabscope: `, the parts and a newline to stderr, in one write.
pub fn line(parts: &[&str]) {
    let mut buffer = [0_u8; LINE_MAX];
    let mut len = 0;
    let all = core::iter::once(&"slabscope: ").chain(parts);
    for byte in all.flat_map(|part| part.bytes()).take(LINE_MAX - 1) {
        if let Some(slot) = buffer.get_mut(len) {
            // A control character in a file name must not reach the terminal.
            *slot = if byte < b' ' { b'?' } else { byte };
            len += 1;
        }
    }
    if let Some(slot) = buffer.get_mut(len) {
        *slot = b'\n';
        len += 1;
    }
    let _errno = ErrnoGuard::new();
    // SAFETY: `buffer` holds `len` bytes. A failed write to stderr has nobody to tell.
    unsafe { libc::write(libc::STDERR_FILENO, buffer.as_ptr().cast(), len) };
}

/// A number as decimal text, without allocating.
#[derive(Clone, Copy, Debug)]
pub struct Decimal {
    digits: [u8; 20],
    start: usize,
}

impl Decimal {
    /// The digits of `value`.
    pub fn new(mut value: u64) -> Self {
        let mut digits = [b'0'; 20];
        let mut start = digits.len();
        for (index, slot) in digits.iter_mut().enumerate().rev() {
            *slot = b'0' + (value % 10) as u8;
            value /= 10;
            start = index;
            if value == 0 {
                break;
            }
        }
        Decimal { digits, start }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        let digits = self.digits.get(self.start..).unwrap_or_default();
        core::str::from_utf8(digits).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_people_write_them() {
        for (value, text) in
            [(0, "0"), (7, "7"), (1230, "1230"), (u64::MAX, "18446744073709551615")]
        {
            assert_eq!(Decimal::new(value).as_str(), text);
        }
    }
}
