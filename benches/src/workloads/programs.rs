//! Real programs in small: what they are made of does the allocating.

use std::collections::{BTreeMap, BTreeSet};
use std::hint::black_box;
use std::io::{Read, Write};

use quote::ToTokens;
use regex::Regex;
use serde_json::Value;

use super::{Outcome, mix, text, timed};

fn sum_of(text: &str) -> u64 {
    text.bytes().fold(0, |sum, byte| mix(sum, u64::from(byte)))
}

/// Parses a large JSON text into values, counts in it, writes it again.
pub(super) fn json() -> Outcome {
    let input = text::json(&text::sources());
    timed(|| {
        let mut checksum = 0;
        for _ in 0..4 {
            let value: Value = serde_json::from_str(&input).unwrap_or_default();
            checksum = mix(checksum, count(&value));
            checksum = mix(checksum, value.to_string().len() as u64);
        }
        checksum
    })
}

fn count(value: &Value) -> u64 {
    match value {
        Value::Array(values) => values.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        Value::String(text) => text.len() as u64,
        _ => 1,
    }
}

/// Parses Rust sources into syntax trees, and makes tokens of them.
pub(super) fn syn() -> Outcome {
    let sources = text::sources();
    timed(|| {
        let mut checksum = 0;
        for _ in 0..2 {
            let files: Vec<syn::File> =
                sources.iter().filter_map(|source| syn::parse_file(source).ok()).collect();
            for file in &files {
                let tokens = black_box(file).to_token_stream();
                checksum = mix(checksum, tokens.into_iter().count() as u64);
            }
        }
        checksum
    })
}

/// Compiles expressions and searches sources with them.
pub(super) fn regex() -> Outcome {
    const EXPRESSIONS: [&str; 8] = [
        r"\bfn\s+(\w+)\s*\(",
        r"(?i)alloc\w*",
        r"\p{Lu}\w+::\w+",
        r"0x[0-9a-f_]+|[0-9][0-9_]*",
        r"//[/!]?\s*(.*)",
        r"([a-z]+)_([a-z]+)_([a-z]+)",
        r"\b(u8|u16|u32|u64|usize)\b",
        r"[^\s]{30,60}",
    ];
    let sources = text::sources();
    timed(|| {
        let mut checksum = 0;
        for _ in 0..12 {
            for expression in EXPRESSIONS {
                let Ok(regex) = Regex::new(expression) else { return 0 };
                checksum = mix(checksum, regex.captures_len() as u64);
            }
        }
        for expression in EXPRESSIONS {
            let Ok(regex) = Regex::new(expression) else { return 0 };
            for source in &sources {
                for found in regex.captures_iter(source).take(40) {
                    let whole: Vec<String> =
                        found.iter().flatten().map(|part| part.as_str().to_owned()).collect();
                    checksum = mix(checksum, whole.concat().len() as u64);
                }
            }
        }
        checksum
    })
}

/// Compresses sources, each by itself, and restores them.
pub(super) fn compress() -> Outcome {
    let sources = text::sources();
    timed(|| {
        let mut checksum = 0;
        for source in &sources {
            let mut encoder =
                flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
            if encoder.write_all(source.as_bytes()).is_err() {
                return 0;
            }
            let packed = encoder.finish().unwrap_or_default();
            let mut restored = String::new();
            let read = flate2::read::DeflateDecoder::new(&packed[..]).read_to_string(&mut restored);
            checksum = mix(checksum, read.unwrap_or(0) as u64 + packed.len() as u64);
        }
        checksum
    })
}

/// Sorts and joins the lines of the sources, as text.
pub(super) fn sort() -> Outcome {
    let sources = text::sources();
    timed(|| {
        let mut checksum = 0;
        for _ in 0..8 {
            let lines = sources.iter().flat_map(|source| source.lines());
            let mut lines: Vec<String> = lines.map(|line| line.trim().to_lowercase()).collect();
            lines.sort();
            let reversed: Vec<String> =
                lines.iter().map(|line| line.chars().rev().collect()).collect();
            lines.dedup();
            checksum = mix(checksum, sum_of(&lines.join("\n")) + reversed.len() as u64);
        }
        checksum
    })
}

/// Where each word stands, and which words stand together.
pub(super) fn index() -> Outcome {
    let sources = text::sources();
    timed(|| {
        let mut checksum = 0;
        for _ in 0..2 {
            let mut index: BTreeMap<String, Vec<(u32, u32)>> = BTreeMap::new();
            let mut together: BTreeMap<(String, String), BTreeSet<u32>> = BTreeMap::new();
            for (file, source) in sources.iter().enumerate() {
                let mut before = String::new();
                let words = source.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
                for (place, word) in words.enumerate() {
                    let place = (file as u32, place as u32);
                    index.entry(word.to_lowercase()).or_default().push(place);
                    let pair = (std::mem::replace(&mut before, word.to_owned()), word.to_owned());
                    together.entry(pair).or_default().insert(place.0);
                }
            }
            checksum =
                mix(checksum, index.values().map(|places| places.len() as u64).max().unwrap_or(0));
            checksum = mix(checksum, together.values().map(|files| files.len() as u64).sum());
        }
        checksum
    })
}
