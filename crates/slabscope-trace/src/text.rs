//! Text from a trace: bytes that ought to be UTF-8 and need not be.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A string of a trace; cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(Arc<[u8]>);

impl Text {
    /// The text made of `bytes`.
    pub fn new(bytes: &[u8]) -> Self {
        Text(bytes.into())
    }

    /// Its bytes as they stand in the file.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// As a string, with U+FFFD in place of what is not UTF-8.
    pub fn to_str(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_str().fmt(f)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.to_str(), f)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text::new(text.as_bytes())
    }
}
