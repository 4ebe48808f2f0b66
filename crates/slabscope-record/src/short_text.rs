//! Texts that a session keeps without a heap.

/// A text of bounded length; the rest is cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShortText {
    bytes: [u8; 256],
    len: usize,
}

impl ShortText {
    pub(crate) fn new(text: &str) -> Self {
        let mut bytes = [0; 256];
        let len = text.len().min(bytes.len());
        if let (Some(room), Some(text)) = (bytes.get_mut(..len), text.as_bytes().get(..len)) {
            room.copy_from_slice(text);
        }
        ShortText { bytes, len }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}
