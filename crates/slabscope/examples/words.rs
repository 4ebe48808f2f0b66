//! Counts the words of a file: `words FILE`. A small program on the allocator.

use std::collections::HashMap;
use std::process::ExitCode;

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("words: which file?");
        return ExitCode::from(2);
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("words: {path}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut counts: HashMap<String, usize> = HashMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word.to_lowercase()).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    for (word, count) in counts.iter().take(10) {
        println!("{count:>6} {word}");
    }
    ExitCode::SUCCESS
}
