//! Running the workloads and keeping what they say.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::bench::peers::Program;
use crate::bench::run_log::RunLog;
use crate::command;

/// What one workload took on one allocator, over all rounds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    nanos: Vec<u64>,
    peaks: Vec<u64>,
}

/// What one workload took on all allocators.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) workload: String,
    /// In the order of the programs.
    pub(crate) series: Vec<Series>,
}

/// Everything that was measured.
#[derive(Debug)]
pub(crate) struct Results {
    /// Names and versions of the allocators.
    pub(crate) allocators: Vec<(&'static str, String)>,
    pub(crate) workloads: Vec<Measured>,
}

impl Results {
    /// How many runs every series has at least.
    pub(crate) fn rounds(&self) -> u32 {
        let all = self.workloads.iter().flat_map(|measured| &measured.series);
        all.map(Series::len).min().unwrap_or(0) as u32
    }
}

impl Series {
    #[cfg(test)]
    pub(crate) fn of(nanos: &[u64], peaks: &[u64]) -> Self {
        Series { nanos: nanos.to_vec(), peaks: peaks.to_vec() }
    }

    pub(crate) fn add(&mut self, nanos: u64, peak: u64) {
        self.nanos.push(nanos);
        self.peaks.push(peak);
    }

    /// How many runs.
    pub(crate) fn len(&self) -> usize {
        self.nanos.len()
    }

    pub(crate) fn time(&self) -> f64 {
        median(floats(&self.nanos))
    }

    /// Half the distance of the quartiles, as a share of the median.
    pub(crate) fn spread(&self) -> f64 {
        spread(floats(&self.nanos)) / self.time().max(1.0)
    }

    pub(crate) fn peak(&self) -> f64 {
        median(floats(&self.peaks))
    }
}

fn floats(numbers: &[u64]) -> Vec<f64> {
    numbers.iter().map(|&number| number as f64).collect()
}

/// The middle of `numbers`; between the two middle ones if there are two.
pub(crate) fn median(numbers: Vec<f64>) -> f64 {
    quartile(numbers, 2)
}

/// Half the distance of the quartiles.
pub(crate) fn spread(numbers: Vec<f64>) -> f64 {
    (quartile(numbers.clone(), 3) - quartile(numbers, 1)) / 2.0
}

/// What so many quarters of `numbers` are below; it may lie between two of them.
fn quartile(mut numbers: Vec<f64>, quarters: usize) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let place = numbers.len().saturating_sub(1) * quarters;
    let number = |index: usize| numbers.get(index).copied().unwrap_or(0.0);
    let (below, above) = (number(place / 4), number(place.div_ceil(4)));
    below + (above - below) * (place % 4) as f64 / 4.0
}

/// Runs each of `workloads` on each of `programs`, `rounds` times; beside what is in `log`, where each
/// run is added.
pub(crate) fn measure(
    programs: &[Program],
    workloads: &[String],
    rounds: u32,
    log: &mut RunLog,
) -> Result<Results> {
    let series = |workload: &String| Measured {
        workload: workload.clone(),
        series: programs.iter().map(|program| log.series(workload, program.name)).collect(),
    };
    let mut results: Vec<Measured> = workloads.iter().map(series).collect();
    for round in 1..=rounds {
        eprintln!("round {round} of {rounds}");
        for result in &mut results {
            run_on_all(programs, result, log)?;
        }
    }
    let allocators = programs.iter().map(|p| (p.name, p.version.clone())).collect();
    Ok(Results { allocators, workloads: results })
}

/// One workload once on all; each round another one begins.
fn run_on_all(programs: &[Program], result: &mut Measured, log: &mut RunLog) -> Result<()> {
    let mut expected = None;
    for at in turn(&result.series) {
        let (program, series) = (&programs[at], &mut result.series[at]);
        let output = command::output(Command::new(&program.path).arg(&result.workload))?;
        let text = String::from_utf8(output)?;
        let [checksum, nanos, peak] = numbers(&text)
            .with_context(|| format!("{} said {text:?} of {}", program.name, result.workload))?;
        let before = *expected.get_or_insert(checksum);
        ensure!(
            before == checksum,
            "{} on {} came to another result than on the others: {checksum}, not {before}",
            result.workload,
            program.name
        );
        series.add(nanos, peak);
        log.add(&result.workload, program.name, nanos, peak)?;
    }
    Ok(())
}

/// In which order a round runs the programs. By how many runs there are, those of earlier calls too: else
/// rounds that are made in pieces would all begin with the same one.
fn turn(series: &[Series]) -> impl Iterator<Item = usize> + use<> {
    let (count, made) = (series.len(), series.iter().map(Series::len).min().unwrap_or(0));
    (0..count).map(move |place| (place + made) % count)
}

fn numbers(text: &str) -> Option<[u64; 3]> {
    let mut numbers = text.split_whitespace().map(|number| number.parse().ok());
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(nanos: &[u64]) -> Series {
        Series::of(nanos, &vec![7; nanos.len()])
    }

    #[test]
    fn medians_and_spreads() {
        assert_eq!(series(&[5, 1, 9]).time(), 5.0);
        assert_eq!(series(&[4, 8]).time(), 6.0);
        assert_eq!(series(&[100]).spread(), 0.0);
        assert_eq!(series(&[80, 100, 100, 120, 100, 90, 110]).spread(), 0.05);
        assert_eq!(series(&[100, 80, 90, 120, 110]).spread(), 0.1);
        assert_eq!(series(&[1, 2, 3]).peak(), 7.0);
    }

    #[test]
    fn each_round_begins_with_another_one() {
        let order = |runs: usize| turn(&vec![series(&vec![1; runs]); 3]).collect::<Vec<_>>();
        assert_eq!([order(0), order(1), order(5)], [vec![0, 1, 2], vec![1, 2, 0], vec![2, 0, 1]]);
    }

    #[test]
    fn lines_of_three_numbers() {
        assert_eq!(numbers("1 2 3\n"), Some([1, 2, 3]));
        assert_eq!(numbers("1 2"), None);
        assert_eq!(numbers("1 two 3"), None);
    }
}
