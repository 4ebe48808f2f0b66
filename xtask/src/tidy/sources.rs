//! What holds of every source file.

use std::path::Path;

use super::{Fault, Text};

/// The longest file, its tests left out.
const LINES_MAX: usize = 400;

/// Crates that cannot allocate, since they do not see `alloc`.
const NO_ALLOC: [&str; 4] =
    ["slabscope-os", "slabscope-wire", "slabscope-heap", "slabscope-record"];

/// Words that may stand in some places only: the word, where, and what to say elsewhere.
const CONFINED: [(&[&str], &str, &str); 2] = [
    (
        &["libc::", "asm!", "global_asm!", "naked_asm!"],
        "crates/slabscope-os/src/",
        "only slabscope-os speaks to libc or the CPU",
    ),
    (
        &["thread_local!"],
        "crates/slabscope/src/tls.rs",
        "thread-locals of the allocator stand in tls.rs only",
    ),
];

/// Finds files that break a rule.
pub(super) fn check(sources: &[Text]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for source in sources {
        faults.extend(head(source));
        faults.extend(length(source));
        faults.extend(suppressed(source));
        if is_product(&source.path) {
            faults.extend(confined(source));
        }
    }
    for name in NO_ALLOC {
        faults.extend(no_alloc(name, sources));
    }
    faults
}

/// Whether the file is part of a crate that is used, and no test, example or benchmark.
fn is_product(path: &Path) -> bool {
    let mut parts = path.iter();
    parts.next().is_some_and(|top| top == "crates")
        && parts.nth(1).is_some_and(|part| part == "src")
        && !is_test(path)
}

fn is_test(path: &Path) -> bool {
    path.iter().any(|part| part == "tests" || part == "tests.rs")
}

/// The lines before the tests at the end of the file.
fn without_tests(content: &str) -> impl Iterator<Item = (usize, &str)> {
    content.lines().take_while(|line| *line != "#[cfg(test)]").enumerate()
}

/// A line's code: what stands before a comment.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

fn head(source: &Text) -> Option<Fault> {
    let missing = !source.content.starts_with("//!");
    missing.then(|| Fault::new(&source.path, 1, "begin it with //! and what it is"))
}

fn length(source: &Text) -> Option<Fault> {
    let lines = without_tests(&source.content).count();
    let what = || format!("{lines} lines; split it, {LINES_MAX} is the most");
    (lines > LINES_MAX && !is_test(&source.path)).then(|| Fault::new(&source.path, 0, what()))
}

/// What several tests share may lie idle in one of them, so an expectation could fail there.
fn suppressed(source: &Text) -> Vec<Fault> {
    if is_test(&source.path) {
        return Vec::new();
    }
    let lines = source.content.lines().enumerate();
    lines
        .filter(|(_, line)| {
            let line = line.trim_start();
            line.starts_with("#[allow(") || line.starts_with("#![allow(")
        })
        .map(|(index, _)| {
            Fault::new(&source.path, index + 1, "use #[expect(.., reason = \"..\")] instead")
        })
        .collect()
}

fn confined(source: &Text) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (words, place, what) in CONFINED {
        if source.path.to_string_lossy().starts_with(place) {
            continue;
        }
        for (index, line) in without_tests(&source.content) {
            if words.iter().any(|word| code(line).contains(word)) {
                faults.push(Fault::new(&source.path, index + 1, what));
            }
        }
    }
    faults
}

fn no_alloc(name: &str, sources: &[Text]) -> Vec<Fault> {
    let directory = Path::new("crates").join(name).join("src");
    let of_crate = sources.iter().filter(|source| source.path.starts_with(&directory));
    let mut faults = Vec::new();
    let root = directory.join("lib.rs");
    if !of_crate.clone().any(|file| file.path == root && file.content.contains("\n#![no_std]\n")) {
        faults.push(Fault::new(&root, 0, "it must be #![no_std]"));
    }
    for source in of_crate.filter(|source| !is_test(&source.path)) {
        for (index, line) in without_tests(&source.content) {
            if code(line).contains("extern crate") {
                let what = "std and alloc stay out of this crate, tests apart";
                faults.push(Fault::new(&source.path, index + 1, what));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(path: &str, content: &str) -> Vec<String> {
        let source = Text { path: path.into(), content: content.into() };
        let all = check(&[source]);
        all.iter().filter(|fault| fault.file == Path::new(path)).map(Fault::to_string).collect()
    }

    #[test]
    fn a_file_without_a_head_or_too_long_is_a_fault() {
        assert_eq!(faults("xtask/src/a.rs", "//! A.\nfn a() {}\n"), [""; 0]);
        let expected = ["xtask/src/a.rs:1: begin it with //! and what it is"];
        assert_eq!(faults("xtask/src/a.rs", "fn a() {}\n"), expected);
        let long = format!("//! A.\n{}", "\n".repeat(LINES_MAX));
        assert_eq!(faults("xtask/src/a.rs", &long).len(), 1);
        assert_eq!(faults("crates/a/tests/a.rs", &long), [""; 0]);
        let tested = format!("//! A.\n#[cfg(test)]\n{}", "\n".repeat(LINES_MAX));
        assert_eq!(faults("xtask/src/a.rs", &tested), [""; 0]);
    }

    #[test]
    fn words_stay_where_they_belong() {
        let text = "//! A.\n// libc::abort is fine in a comment.\nuse libc::abort;\n";
        assert_eq!(faults("crates/slabscope/src/a.rs", text).len(), 1);
        assert_eq!(faults("crates/slabscope-os/src/a.rs", text), [""; 0]);
        let text = "//! A.\nstd::thread_local! {}\n";
        assert_eq!(faults("crates/slabscope/src/tls.rs", text), [""; 0]);
        assert_eq!(faults("crates/slabscope/src/a.rs", text).len(), 1);
        assert_eq!(faults("crates/slabscope/tests/a.rs", text), [""; 0]);
        assert_eq!(faults("xtask/src/a.rs", "//! A.\n#[allow(dead_code)]\n").len(), 1);
    }

    #[test]
    fn lower_crates_cannot_see_alloc() {
        let path = "crates/slabscope-heap/src/lib.rs";
        assert_eq!(faults(path, "//! A.\n#![no_std]\n"), [""; 0]);
        assert_eq!(faults(path, "//! A.\n").len(), 1);
        assert_eq!(faults(path, "//! A.\n#![no_std]\nextern crate alloc;\n").len(), 1);
        let tested = "//! A.\n#![no_std]\n#[cfg(test)]\nextern crate std;\n";
        assert_eq!(faults(path, tested), [""; 0]);
    }
}
