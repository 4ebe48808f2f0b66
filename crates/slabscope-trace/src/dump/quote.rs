//! Quoted text, as Go's `%q` has it.

use std::io::{self, Write};

use crate::text::Text;

/// Writes `text` in quotes, with all that cannot be printed escaped.
pub(super) fn quoted(text: &Text, out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"\"")?;
    for chunk in text.as_bytes().utf8_chunks() {
        for char in chunk.valid().chars() {
            write_char(char, out)?;
        }
        for byte in chunk.invalid() {
            write!(out, "\\x{byte:02x}")?;
        }
    }
    out.write_all(b"\"")
}

fn write_char(char: char, out: &mut impl Write) -> io::Result<()> {
    match char {
        '"' => out.write_all(b"\\\""),
        '\\' => out.write_all(b"\\\\"),
        '\x07' => out.write_all(b"\\a"),
        '\x08' => out.write_all(b"\\b"),
        '\x0c' => out.write_all(b"\\f"),
        '\n' => out.write_all(b"\\n"),
        '\r' => out.write_all(b"\\r"),
        '\t' => out.write_all(b"\\t"),
        '\x0b' => out.write_all(b"\\v"),
        ' '..='~' => write!(out, "{char}"),
        '\0'..='\x7f' => write!(out, "\\x{:02x}", u32::from(char)),
        _ if is_printable(char) => write!(out, "{char}"),
        '\u{80}'..='\u{ffff}' => write!(out, "\\u{:04x}", u32::from(char)),
        _ => write!(out, "\\U{:08x}", u32::from(char)),
    }
}

/// Whether a character that is not ASCII is a letter, mark, number, punctuation or symbol.
///
/// The standard library tells only through its own escapes; there a mark counts as printable
/// when it does not stand first.
fn is_printable(char: char) -> bool {
    let mut bytes = [b'a'; 5];
    let len = char.encode_utf8(&mut bytes[1..]).len();
    let after_a_letter = str::from_utf8(&bytes[..=len]).unwrap_or_default();
    after_a_letter.escape_debug().nth(1) == Some(char)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_quoted_as_go_quotes_it() {
        for (text, expected) in [
            (&b"plain text"[..], r#""plain text""#),
            (b"a\"b\\c\n\t\x07\x1b\x7f", r#""a\"b\\c\n\t\a\x1b\x7f""#),
            ("ö 語 e\u{301}".as_bytes(), "\"ö 語 e\u{301}\""),
            ("\u{a0}\u{200b}\u{e000}\u{f0000}".as_bytes(), r#""\u00a0\u200b\ue000\U000f0000""#),
            (b"\xff\xc3a", r#""\xff\xc3a""#),
            ("\u{fffd}".as_bytes(), "\"\u{fffd}\""),
        ] {
            let mut out = Vec::new();
            quoted(&Text::new(text), &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
