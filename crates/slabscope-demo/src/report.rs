//! What the program prints: the same for the same sources, however many threads there were.

use std::fmt::Write;

use crate::index::{Index, most_frequent};

/// How many names are listed in each table.
const LISTED: usize = 4;

/// The summary of the index and the answers to a few questions.
pub(crate) fn summary(index: &Index) -> String {
    let mut out = String::new();
    let declared: usize = index.names.values().map(Vec::len).sum();
    line(&mut out, "files", &index.files.len().to_string());
    line(&mut out, "unreadable files", &index.unreadable.to_string());
    line(&mut out, "declarations", &declared.to_string());
    line(&mut out, "names", &index.names.len().to_string());
    for (kind, count) in index.kinds() {
        line(&mut out, &format!("  {kind}"), &count.to_string());
    }
    let names = index.names.iter().map(|(name, places)| (name.clone(), places.len() as u64));
    table(&mut out, "declared most often", most_frequent(names, LISTED));
    let calls = index.calls.iter().map(|(name, &count)| (name.clone(), count));
    table(&mut out, "called most often", most_frequent(calls, LISTED));
    let words = index.words.iter().map(|(word, &count)| (word.clone(), count));
    table(&mut out, "words in doc comments", most_frequent(words, LISTED));
    line(&mut out, "names that start with \"parse\"", &index.starting_with("parse").to_string());
    if let Some((path, place)) = index.first("Slabscope") {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        line(&mut out, "Slabscope is declared in", &format!("{name}:{}", place.line));
    }
    out
}

fn table(out: &mut String, title: &str, rows: Vec<(String, u64)>) {
    let rows: Vec<String> = rows.iter().map(|(name, count)| format!("{name} {count}")).collect();
    line(out, title, &rows.join(", "));
}

fn line(out: &mut String, title: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{title:<30} {value}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::items;

    #[test]
    fn a_summary_answers_from_the_index() {
        let mut index = Index::default();
        let source =
            "/// Parses what it is given.\npub struct Slabscope;\nfn parse_it() { parse_it() }";
        index.add("src/lib.rs".into(), items::parse(source).unwrap());
        let summary = summary(&index);
        for expected in [
            "declarations                   2\n",
            "called most often              parse_it 1\n",
            "names that start with \"parse\"  1\n",
            "Slabscope is declared in       lib.rs:2\n",
        ] {
            assert!(summary.contains(expected), "{expected} not in:\n{summary}");
        }
    }
}
