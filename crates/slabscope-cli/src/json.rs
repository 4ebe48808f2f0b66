//! Results as JSON, with the version of its form.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use slabscope_analysis::Account;

/// Goes up when a field changes its meaning or goes; new fields may come at any time.
const VERSION: u32 = 1;

/// What stands around every result.
#[derive(Serialize)]
struct Envelope<'a, T> {
    version: u32,
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    completeness: Option<&'a Account>,
    #[serde(flatten)]
    result: T,
}

/// Writes `result` with the version, the file it is about, and whether that is all there.
pub(crate) fn write(
    path: &Path,
    account: &Account,
    result: &impl Serialize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (file, completeness) = (&path.to_string_lossy(), Some(account));
    let envelope = Envelope { version: VERSION, file, completeness, result };
    let json = serde_json::to_string_pretty(&envelope)?;
    writeln!(out, "{}", plain(&json))
}

/// Writes the version and the file alone, in one line: what comes before results that are lines.
pub(crate) fn head(path: &Path, out: &mut dyn Write) -> io::Result<()> {
    let file = &path.to_string_lossy();
    line(&Envelope { version: VERSION, file, completeness: None, result: () }, out)
}

/// Whether the trace is all there, as a result among others.
#[derive(Serialize)]
pub(crate) struct Completeness<'a> {
    pub(crate) completeness: &'a Account,
}

/// Writes `result` in one line.
pub(crate) fn line(result: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", plain(&serde_json::to_string(result)?))
}

/// JSON lets control characters above 0x7e stand as they are; a terminal may obey them.
fn plain(json: &str) -> String {
    let mut plain = String::with_capacity(json.len());
    for c in json.chars() {
        // Those below stand between values only, as newlines, and are escaped in strings.
        if c == '\n' || !crate::text::is_unsafe(c) {
            plain.push(c);
        } else {
            plain.push_str(&format!("\\u{:04x}", u32::from(c)));
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_escaped_and_survive() {
        let text = "a\u{1b}b\u{9b}c\u{202e}d\u{7f}\n\u{e9}";
        let mut out = Vec::new();
        let result = serde_json::json!({ "text": text });
        write(Path::new("x"), &Account::NOT_READ, &result, &mut out).unwrap();
        let written = String::from_utf8(out).unwrap();
        assert!(!written.chars().any(|c| c != '\n' && crate::text::is_unsafe(c)), "{written}");
        let read: serde_json::Value = serde_json::from_str(&written).unwrap();
        assert_eq!((&read["text"], &read["version"]), (&text.into(), &1.into()));
        assert_eq!(read["completeness"]["state"], "not_read");
    }
}
