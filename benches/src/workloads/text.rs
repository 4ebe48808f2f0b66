//! What the real programs work on: the sources of this workspace, and JSON made of them.

use std::path::{Path, PathBuf};

/// All Rust sources of the crates, in the order of their paths.
pub(super) fn sources() -> Vec<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("crates");
    let mut paths = Vec::new();
    collect(&crates, &mut paths);
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect()
}

fn collect(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// An array with an object for each line of `sources`.
pub(super) fn json(sources: &[String]) -> String {
    let mut lines = Vec::new();
    for (file, source) in sources.iter().enumerate() {
        for (number, line) in source.lines().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            lines.push(serde_json::json!({
                "file": file,
                "line": { "number": number, "text": line, "indent": line.len() - line.trim_start().len() },
                "words": words,
                "blank": words.is_empty(),
                "share": words.len() as f64 / (number + 1) as f64,
            }));
        }
    }
    serde_json::Value::Array(lines).to_string()
}
