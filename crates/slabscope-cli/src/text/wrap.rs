//! Long names over several lines, broken where they are easiest to read.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text in lines of at most `width` columns of the terminal, nothing left out.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<&str> {
    let (mut lines, mut rest) = (Vec::new(), text);
    while rest.width() > width {
        let room = fitting(rest, width);
        let (line, after) = rest.split_at(place(&rest[..room]).unwrap_or(room));
        lines.push(line.trim_end());
        rest = after.trim_start();
    }
    lines.push(rest);
    lines
}

/// How many bytes fit, one character at least.
fn fitting(text: &str, width: usize) -> usize {
    let mut used = 0;
    let too_wide = text.char_indices().skip(1).find(|(at, _)| {
        used = text[..*at].width();
        used + text[*at..].chars().next().and_then(UnicodeWidthChar::width).unwrap_or(0) > width
    });
    too_wide.map_or(text.len(), |(at, _)| at)
}

/// Where a line is best broken: behind a space, or else before a `::`, in its second half.
fn place(line: &str) -> Option<usize> {
    let is_late = |at: &usize| *at > line.len() / 2;
    let space = line.rfind(' ').map(|at| at + 1).filter(is_late);
    space.or_else(|| line.rfind("::").filter(is_late))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_where_words_and_paths_do() {
        assert_eq!(wrap("short", 10), ["short"]);
        assert_eq!(wrap("a number of words", 10), ["a number", "of words"]);
        assert_eq!(wrap("app::orders::insert", 13), ["app::orders", "::insert"]);
        assert_eq!(wrap("", 4), [""]);
    }

    #[test]
    fn nothing_is_lost_and_all_fits() {
        let long = "\u{6f22}<a::b, c>::d".repeat(20);
        for width in 4..50 {
            let lines = wrap(&long, width);
            assert!(lines.iter().all(|line| line.width() <= width), "{width}");
            let all: String = lines.concat();
            assert_eq!(all.replace(' ', ""), long.replace(' ', ""));
        }
    }
}
