//! A bounded buffer to encode into: it never grows, and says when it is full.

use crate::varint;

/// Bytes being written into a slice of fixed size.
///
/// A write that does not fit leaves the buffer as it was and returns `false`, so a caller can
/// close its batch and write the same thing into the next.
#[derive(Debug)]
pub struct Buffer<'a> {
    bytes: &'a mut [u8],
    len: usize,
}

impl<'a> Buffer<'a> {
    /// An empty buffer over `bytes`.
    pub fn new(bytes: &'a mut [u8]) -> Self {
        Buffer { bytes, len: 0 }
    }

    /// How many bytes were written.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many bytes still fit.
    #[inline]
    pub fn room(&self) -> usize {
        self.bytes.len() - self.len
    }

    /// What was written.
    pub fn written(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// Forgets what was written after the first `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Appends one byte.
    #[inline]
    pub fn byte(&mut self, byte: u8) -> bool {
        match self.bytes.get_mut(self.len) {
            Some(slot) => {
                *slot = byte;
                self.len += 1;
                true
            }
            None => false,
        }
    }

    /// Appends `value` as a varint.
    #[inline]
    pub fn varint(&mut self, value: u64) -> bool {
        if value < 0x80 {
            return self.byte(value as u8);
        }
        let (bytes, len) = varint::encode(value);
        match bytes.get(..len) {
            Some(bytes) => self.bytes(bytes),
            None => false,
        }
    }

    /// Appends `bytes` as they are.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) -> bool {
        match self.bytes.get_mut(self.len..self.len + bytes.len()) {
            Some(room) => {
                room.copy_from_slice(bytes);
                self.len += bytes.len();
                true
            }
            None => false,
        }
    }

    /// Appends the length of `text` as a varint, then its bytes.
    pub fn text(&mut self, text: &[u8]) -> bool {
        let start = self.len;
        let fits = self.varint(text.len() as u64) && self.bytes(text);
        if !fits {
            self.len = start;
        }
        fits
    }

    /// Appends one record whole or not at all: `write` returns whether all of it fit.
    #[inline]
    pub fn record(&mut self, write: impl FnOnce(&mut Self) -> bool) -> bool {
        let start = self.len;
        let fits = write(self);
        if !fits {
            self.len = start;
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_does_not_fit_leaves_nothing() {
        let mut bytes = [0; 4];
        let mut buffer = Buffer::new(&mut bytes);
        assert!(buffer.record(|b| b.byte(1) && b.varint(300)));
        assert!(!buffer.record(|b| b.byte(2) && b.varint(300)));
        assert_eq!(buffer.written(), [1, 0xac, 2]);
        assert!(!buffer.text(b"x"));
        assert_eq!((buffer.len(), buffer.room()), (3, 1));
    }
}
