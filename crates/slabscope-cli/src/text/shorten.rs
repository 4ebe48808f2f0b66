//! Names of functions and types in little room: what says least of which one it is goes first.
//!
//! Paths of generic arguments go before traits, these before modules, these before the arguments
//! themselves. The end is never cut: there stands the function.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What stands for what was left out.
const LEFT_OUT: &str = "..";

/// A name in little room.
pub(super) struct Short {
    pub(super) text: String,
    /// Whether more than modules and traits went.
    pub(super) is_vague: bool,
}

/// The name, or as much of it as fits into `width` columns of the terminal.
pub(super) fn name(name: &str, width: usize) -> Short {
    let (mut text, mut is_vague) = (name.to_owned(), false);
    for step in STEPS {
        if text.width() <= width {
            return Short { text, is_vague };
        }
        let before = std::mem::take(&mut text);
        text = match step {
            Step::Path(change) => change(&before),
            Step::Arguments(depth) => with_arguments(&before, depth),
        };
        is_vague |= matches!(step, Step::Arguments(_)) && text != before;
    }
    if text.width() > width {
        (text, is_vague) = (without_middle(&text, width), true);
    }
    Short { text, is_vague }
}

/// A way to make a name shorter.
enum Step {
    /// Of its paths and traits.
    Path(fn(&str) -> String),
    /// Of arguments in more than so many lists.
    Arguments(usize),
}

/// One after the other, until the name fits.
const STEPS: [Step; 9] = [
    Step::Path(plain_arguments),
    Step::Path(|name| with_segments(name, 4)),
    Step::Path(|name| with_segments(name, 3)),
    Step::Arguments(2),
    Step::Path(without_trait),
    Step::Arguments(1),
    Step::Path(|name| with_segments(name, 2)),
    Step::Arguments(0),
    Step::Path(|name| with_segments(name, 1)),
];

/// A part of a name: a path, or what stands between two.
enum Part<'a> {
    Path(&'a str),
    Between(&'a str),
}

/// Paths and what is between them, each with how many lists of arguments it stands in.
fn parts(name: &str) -> Vec<(usize, Part<'_>)> {
    let (mut parts, mut depth, mut rest) = (Vec::new(), 0_usize, name);
    while let Some(first) = rest.chars().next() {
        let len = if is_in_path(first) {
            rest.find(|c| !is_in_path(c)).unwrap_or(rest.len())
        } else if rest.starts_with("->") || rest.starts_with("=>") {
            2
        } else {
            first.len_utf8()
        };
        let (part, after) = rest.split_at(len);
        // `<A as B>` in front of a path is the path's own.
        let is_own = parts.is_empty() && part == "<" || depth == 0 && after.starts_with("::");
        if matches!(part, ">" | ")" | "]") && !is_own {
            depth = depth.saturating_sub(1);
        }
        parts.push((depth, if is_in_path(first) { Part::Path(part) } else { Part::Between(part) }));
        if matches!(part, "<" | "(" | "[") && !is_own {
            depth += 1;
        }
        rest = after;
    }
    parts
}

fn is_in_path(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | ':' | '{' | '}' | '#' | '.')
}

/// Each path by what `change` makes of it.
fn with_paths(name: &str, change: impl Fn(usize, &str) -> String) -> String {
    let parts = parts(name).into_iter().map(|(depth, part)| match part {
        Part::Path(path) => change(depth, path),
        Part::Between(text) => text.to_owned(),
    });
    parts.collect()
}

/// Arguments, and the type that a method is of, without their modules.
fn plain_arguments(name: &str) -> String {
    let is_of_method = name.starts_with('<');
    with_paths(name, |depth, path| {
        let is_whole = depth == 0 && !is_of_method;
        if is_whole || path.starts_with(':') { path.to_owned() } else { last(path, 1).to_owned() }
    })
}

/// The path itself with so many of its segments at most.
fn with_segments(name: &str, count: usize) -> String {
    with_paths(name, |depth, path| {
        let kept = last(path, count);
        if depth > 0 || kept.len() == path.len() || path.starts_with(':') {
            return path.to_owned();
        }
        format!("{LEFT_OUT}{kept}")
    })
}

/// The last segments of a path. What has no name of its own is nothing without what it is in.
fn last(path: &str, count: usize) -> &str {
    let path = path.trim_start_matches(LEFT_OUT);
    let mut start = path.len();
    let mut left = count;
    while left > 0 && start > 0 {
        let before = path[..start].trim_end_matches("::");
        let at = before.rfind("::").map_or(0, |at| at + 2);
        let is_nameless = path[at..].starts_with('{');
        start = at;
        if !is_nameless {
            left -= 1;
        }
    }
    &path[start..]
}

/// `<A as B>::f` is `A::f`.
fn without_trait(name: &str) -> String {
    let Some(inner) = name.strip_prefix('<') else { return name.to_owned() };
    let mut depth = 0_usize;
    let mut of = None;
    for (at, c) in inner.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' if inner[..at].ends_with(['-', '=']) => {}
            '>' if depth == 0 => {
                let owner = &inner[..of.unwrap_or(at)];
                return format!("{owner}{}", &inner[at + 1..]);
            }
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 && inner[at..].starts_with(" as ") => of = of.or(Some(at)),
            _ => {}
        }
    }
    name.to_owned()
}

/// Without arguments that stand in more than so many lists.
fn with_arguments(name: &str, depth: usize) -> String {
    let mut short = String::new();
    let mut is_left_out = false;
    for (at, part) in parts(name) {
        let (Part::Path(text) | Part::Between(text)) = part;
        if at <= depth {
            short.push_str(text);
            is_left_out = false;
        } else if !std::mem::replace(&mut is_left_out, true) {
            short.push_str(LEFT_OUT);
        }
    }
    short
}

/// The start and, twice as long, the end.
fn without_middle(name: &str, width: usize) -> String {
    let room = width.saturating_sub(LEFT_OUT.len());
    let start = fitting(name.chars(), room / 3);
    let end = fitting(name.chars().rev(), room - start.width());
    let end: String = end.chars().rev().collect();
    format!("{start}{LEFT_OUT}{end}")
}

/// As many of the characters as fit.
fn fitting(characters: impl Iterator<Item = char>, mut room: usize) -> String {
    let fits = |c: &char| match room.checked_sub(c.width().unwrap_or(0)) {
        Some(rest) => {
            room = rest;
            true
        }
        None => false,
    };
    characters.take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_what_says_least_first() {
        let method = "<alloc::vec::Vec<syn::expr::Expr> as core::clone::Clone>::clone";
        let function = "app::orders::book::insert<app::Price, app::Map<app::Key, u8>>";
        let closure = "app::orders::book::insert::{closure#0}";
        let cases = [
            (method, 80, method),
            (method, 40, "<Vec<Expr> as Clone>::clone"),
            (method, 26, "Vec<Expr>::clone"),
            (method, 14, "Vec<..>::clone"),
            (function, 60, "app::orders::book::insert<Price, Map<Key, u8>>"),
            (function, 45, "..orders::book::insert<Price, Map<Key, u8>>"),
            (function, 41, "..orders::book::insert<Price, Map<..>>"),
            (function, 29, "..book::insert<..>"),
            (function, 14, "..insert<..>"),
            (closure, 36, "..orders::book::insert::{closure#0}"),
            (closure, 30, "..book::insert::{closure#0}"),
            (closure, 24, "..insert::{closure#0}"),
            ("~ Vec<proc_macro2::TokenTree>", 20, "~ Vec<TokenTree>"),
            ("HashMap<(app::Key, u8), fn(app::A) -> app::B>", 40, "HashMap<(Key, u8), fn(A) -> B>"),
            ("tokio task of {async fn in app::serve}", 36, "tokio task of {async fn in ..serve}"),
            ("40 B, align 8 in app::orders::book::insert", 34, "40 B, align 8 in ..book::insert"),
        ];
        for (long, width, expected) in cases {
            assert_eq!(name(long, width).text, expected, "in {width}");
        }
    }

    #[test]
    fn whatever_it_is_it_fits_and_ends_as_it_did() {
        let hostile = [
            "<<<<<>>>>>>::a",
            "\u{6f22}\u{6f22}::\u{6f22}\u{6f22}\u{6f22}",
            "a -> b => c>",
            "::::",
            "{{{}",
            "",
        ];
        let long = format!("{}end", "a_word_of_no_path_".repeat(9));
        for text in hostile.into_iter().chain([&*long]) {
            for width in 4..60 {
                let short = name(text, width).text;
                assert!(short.width() <= width, "{short} in {width}");
                assert!(short == text || !short.is_empty(), "{text}");
            }
        }
        assert!(
            !name("app::book::insert::{closure#0}", 28).is_vague && name("a::f<b::C>", 6).is_vague
        );
        let short = name(&long, 20).text;
        assert!(short.starts_with("a_word..") && short.ends_with("_end"), "{short}");
    }
}
