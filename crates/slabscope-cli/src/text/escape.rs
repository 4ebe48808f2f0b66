//! Names from a trace or a command line, made harmless for a terminal.

use std::io::{self, Write};

/// Whether a character can do something to a terminal, or turn the direction of its text.
pub(crate) fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text with `\u{..}` in place of what a terminal might obey.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unsafe(c) {
            escaped.extend(c.escape_default());
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// A writer that escapes like [`escape`], but lets newlines and tabs through.
///
/// What it is given at once should end at the end of a character: other bytes count as not UTF-8.
#[derive(Debug)]
pub(crate) struct Escaping<W>(W);

impl<W: Write> Escaping<W> {
    /// Escapes what goes to `out`.
    pub(crate) fn new(out: W) -> Self {
        Escaping(out)
    }
}

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut escaped = String::with_capacity(bytes.len());
        for c in String::from_utf8_lossy(bytes).chars() {
            if is_unsafe(c) && !matches!(c, '\n' | '\t') {
                escaped.extend(c.escape_default());
            } else {
                escaped.push(c);
            }
        }
        self.0.write_all(escaped.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        let hostile = "\u{1b}]0;title\u{7}caf\u{e9}\r\n\u{9b}2J\u{202e}";
        assert_eq!(escape(hostile), "\\u{1b}]0;title\\u{7}caf\u{e9}\\r\\n\\u{9b}2J\\u{202e}");
        let mut out = Vec::new();
        Escaping::new(&mut out).write_all(b"a\tb\n\x1b[31m\xff\r").unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a\tb\n\\u{1b}[31m\u{fffd}\\r");
    }
}
