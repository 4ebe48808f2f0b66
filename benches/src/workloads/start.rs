//! A program that does next to nothing: what the allocator's own start and end cost.

use std::process::Command;

use super::{Outcome, mix, timed};

/// The argument that makes this program the tiny one.
pub(super) const TINY: &str = "tiny";

const TIMES: usize = 150;

pub(super) fn tiny() -> u64 {
    let words: Vec<String> = "a few words of no weight".split(' ').map(str::to_owned).collect();
    words.iter().fold(0, |sum, word| mix(sum, word.len() as u64))
}

/// Starts the tiny program many times; the peak is that of the largest.
pub(super) fn run() -> Outcome {
    let mut peak = 0;
    let outcome = timed(|| {
        let mut checksum = 0;
        for _ in 0..TIMES {
            let Some((sum, bytes)) = start() else { return 0 };
            checksum = mix(checksum, sum);
            peak = peak.max(bytes);
        }
        checksum
    });
    Outcome { peak: Some(peak), ..outcome }
}

fn start() -> Option<(u64, u64)> {
    let program = std::env::current_exe().ok()?;
    let output = Command::new(program).arg(TINY).output().ok()?.stdout;
    let text = String::from_utf8(output).ok()?;
    let mut numbers = text.split_whitespace().map(|number| number.parse().ok());
    let (checksum, _, peak) = (numbers.next()??, numbers.next()??, numbers.next()??);
    Some((checksum, peak))
}
