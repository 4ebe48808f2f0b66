//! Documents name files that exist.

use std::path::Path;

use super::{Fault, Text};

/// What a path from the top directory begins with.
const TOPS: [&str; 6] = ["crates/", "docs/", "xtask/", "benches/", ".ci/", ".cargo/"];

/// Finds names of files that are not there: in documents, in code marks and links; in sources,
/// names of documents.
pub(super) fn check(root: &Path, documents: &[Text], sources: &[Text]) -> Vec<Fault> {
    let exists = |path: &Path| root.join(path).exists();
    let mut faults = Vec::new();
    for document in documents {
        faults.extend(check_document(document, exists));
    }
    for source in sources {
        faults.extend(check_source(source, exists));
    }
    faults
}

fn check_document(document: &Text, exists: impl Fn(&Path) -> bool) -> Vec<Fault> {
    let mut faults = Vec::new();
    let here = document.path.parent().unwrap_or(Path::new(""));
    let mut in_block = false;
    for (index, line) in document.content.lines().enumerate() {
        if line.starts_with("```") {
            in_block = !in_block;
        }
        if in_block {
            continue;
        }
        let marked = line.split('`').skip(1).step_by(2);
        let named = marked.filter(|name| is_path(name)).map(|name| Path::new(name).to_owned());
        let linked = links(line).map(|link| here.join(link));
        for path in named.chain(linked).filter(|path| !exists(path)) {
            let what = format!("names {}, which does not exist", path.display());
            faults.push(Fault::new(&document.path, index + 1, what));
        }
    }
    faults
}

/// Whether `name` is one path from the top directory, and no pattern or command.
fn is_path(name: &str) -> bool {
    TOPS.iter().any(|top| name.starts_with(top))
        && !name.contains(|c: char| c.is_whitespace() || "*{}<>$".contains(c))
}

/// Where the links of a line lead, those to elsewhere and to headings left out.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets
        .filter(|target| !target.contains("://") && !target.starts_with('#'))
        .map(|target| target.split('#').next().unwrap_or_default())
}

fn check_source(source: &Text, exists: impl Fn(&Path) -> bool) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (index, line) in source.content.lines().enumerate() {
        let line = line.trim_start();
        if !line.starts_with("//") {
            continue;
        }
        let words = line.split(|c: char| !(c.is_alphanumeric() || "/._-".contains(c)));
        let names = words.map(|word| word.trim_end_matches('.'));
        for name in names.filter(|name| name.starts_with("docs/") && name.ends_with(".md")) {
            if !exists(Path::new(name)) {
                let what = format!("names {name}, which does not exist");
                faults.push(Fault::new(&source.path, index + 1, what));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_that_are_not_there_are_faults() {
        let content = "See `crates/a` and `crates/b`.\nA [page](b.md), the [web](https://x.y/z).\n\
            `crates/*/src` and `cargo xtask demo` are no paths.\n```\n`crates/c`\n```\n";
        let document = Text { path: "docs/a.md".into(), content: content.into() };
        let faults = check_document(&document, |path| path == Path::new("crates/a"));
        let lines: Vec<_> = faults.iter().map(Fault::to_string).collect();
        assert_eq!(
            lines,
            [
                "docs/a.md:1: names crates/b, which does not exist",
                "docs/a.md:2: names docs/b.md, which does not exist"
            ]
        );
        let content = "//! See `docs/a.md` and docs/b.md.\nlet path = \"docs/c.md\";\n";
        let source = Text { path: "a.rs".into(), content: content.into() };
        let faults = check_source(&source, |path| path == Path::new("docs/a.md"));
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].line, 1);
    }
}
