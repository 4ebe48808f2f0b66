//! Lists of generic arguments in names as compilers write them.

/// Splits `f<A, B<C, D>>` into `f` and its arguments; a name without any has an empty list.
///
/// Only a list at the very end counts, so `<T as Trait>::f` has none.
pub(crate) fn split(name: &str) -> (&str, Vec<&str>) {
    let none = (name, Vec::new());
    if !name.ends_with('>') || name.ends_with("->") {
        return none;
    }
    match opening(name) {
        Some(0) | None => none,
        Some(at) => {
            let base = name[..at].trim_end_matches("::");
            (base, arguments(&name[at + 1..name.len() - 1]))
        }
    }
}

/// Where the `<` stands that the last `>` closes.
fn opening(name: &str) -> Option<usize> {
    let bytes = name.as_bytes();
    let mut depth = 0_usize;
    for at in (0..bytes.len()).rev() {
        match bytes[at] {
            b'>' if !is_arrow(bytes, at) => depth += 1,
            b'<' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// The `>` of `->` and `=>` closes nothing.
fn is_arrow(bytes: &[u8], at: usize) -> bool {
    at > 0 && matches!(bytes[at - 1], b'-' | b'=')
}

/// The parts between commas that stand in no brackets.
pub(crate) fn arguments(list: &str) -> Vec<&str> {
    let bytes = list.as_bytes();
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_i32);
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' if is_arrow(bytes, at) => {}
            b'>' | b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = list[start..].trim();
    if !last.is_empty() {
        parts.push(last);
    }
    parts
}

/// The text in front of the last `::` that stands in no brackets, and the text behind it.
pub(crate) fn last_segment(path: &str) -> (&str, &str) {
    let bytes = path.as_bytes();
    let mut depth = 0_i32;
    for at in (1..bytes.len()).rev() {
        match bytes[at] {
            b'>' if is_arrow(bytes, at) => {}
            b'>' | b')' | b']' | b'}' => depth += 1,
            b'<' | b'(' | b'[' | b'{' => depth -= 1,
            b':' if depth == 0 && bytes[at - 1] == b':' => {
                return (&path[..at - 1], &path[at + 1..]);
            }
            _ => {}
        }
    }
    ("", path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_where_they_should_be() {
        let cases: [(&str, &str, &[&str]); 7] = [
            (
                "push<my::Order, alloc::alloc::Global>",
                "push",
                &["my::Order", "alloc::alloc::Global"],
            ),
            ("f<(A, B<C, D>), [E; 3]>", "f", &["(A, B<C, D>)", "[E; 3]"]),
            ("f<fn(A, B) -> C, D>", "f", &["fn(A, B) -> C", "D"]),
            ("Vec::<T>", "Vec", &["T"]),
            ("plain", "plain", &[]),
            ("<T as Trait>", "<T as Trait>", &[]),
            ("broken>>", "broken>>", &[]),
        ];
        for (name, base, list) in cases {
            assert_eq!(split(name), (base, list.to_vec()), "{name}");
        }
    }

    #[test]
    fn the_last_segment_stands_in_no_brackets() {
        assert_eq!(last_segment("a::b::c<d::e>"), ("a::b", "c<d::e>"));
        assert_eq!(last_segment("<a::B as c::D>::e"), ("<a::B as c::D>", "e"));
        assert_eq!(last_segment("main"), ("", "main"));
        assert_eq!(last_segment("a::{closure#0}"), ("a", "{closure#0}"));
    }
}
