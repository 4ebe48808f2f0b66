//! What was measured, as a table and as JSON.

use std::fmt::Write;

use anyhow::Result;
use serde_json::{Map, Value, json};

use crate::bench::measure::{Measured, Results, Series};
use crate::bench::peers::BASELINE;
use crate::workspace::Workspace;

/// Our name in the results.
const OURS: &str = "slabscope";

/// Where and how it was measured.
#[derive(Debug)]
pub(crate) struct About {
    machine: String,
    rustc: String,
    command: String,
    rounds: u32,
}

impl About {
    pub(crate) fn of_this_machine(workspace: &Workspace, rounds: u32) -> Result<Self> {
        let cpus = std::thread::available_parallelism().map_or(0, usize::from);
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model =
            info.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        Ok(About {
            machine: format!(
                "{cpus} x {}, Linux {}",
                model.unwrap_or("unknown CPU"),
                kernel.trim()
            ),
            rustc: workspace.rustc_version()?,
            command: format!("cargo xtask {}", arguments.join(" ")),
            rounds,
        })
    }
}

impl Results {
    fn index(&self, name: &str) -> Option<usize> {
        self.allocators.iter().position(|(known, _)| *known == name)
    }

    /// What allocator `at` took for `result` as a ratio to the baseline.
    fn ratio(&self, result: &Measured, at: usize, of: fn(&Series) -> f64) -> f64 {
        let base = self.index(BASELINE).and_then(|base| result.series.get(base));
        let (Some(base), Some(series)) = (base, result.series.get(at)) else { return f64::NAN };
        of(series) / of(base).max(1.0)
    }

    /// The geometric mean of an allocator's ratios.
    fn geomean(&self, at: usize, of: fn(&Series) -> f64) -> f64 {
        let logs = self.workloads.iter().map(|result| self.ratio(result, at, of).ln());
        (logs.sum::<f64>() / self.workloads.len() as f64).exp()
    }
}

/// The tables.
pub(crate) fn text(about: &About, results: &Results) -> String {
    let mut text = String::new();
    let versions: Vec<String> = results
        .allocators
        .iter()
        .map(|(name, version)| {
            let text = format!("{}: {name} {version}", short(name));
            text.trim_end().to_owned()
        })
        .collect();
    let _ = writeln!(text, "{}\n{}\n{}", about.machine, about.rustc, about.command);
    for line in versions.chunks(3) {
        let _ = writeln!(text, "{}", line.join(", "));
    }
    text.push('\n');
    let _ = writeln!(
        text,
        "Time: medians of {} rounds as ratios to {BASELINE}. +- is half the distance of our\n\
         quartiles in percent of our median.\n",
        about.rounds
    );
    table(&mut text, results, Series::time, true);
    let _ = writeln!(text, "\nPeak of resident memory, as ratios to {BASELINE}.\n");
    table(&mut text, results, Series::peak, false);
    text
}

/// An allocator's name over a column.
fn short(name: &str) -> &str {
    match name {
        OURS => "ours",
        BASELINE => "mi3",
        "mimalloc2" => "mi2",
        "jemalloc" => "je",
        "snmalloc" => "sn",
        "rusty_alloc" => "rusty",
        other => other,
    }
}

fn table(text: &mut String, results: &Results, of: fn(&Series) -> f64, spread: bool) {
    let names = results.allocators.iter().map(|(name, _)| *name);
    let unit = if spread { "ms" } else { "MiB" };
    let _ = write!(text, "{:<13}{unit:>6}", "");
    for name in names {
        let _ = write!(text, "{:>8}", short(name));
        if name == OURS && spread {
            let _ = write!(text, "{:>4}", "+-");
        }
    }
    text.push('\n');
    for result in &results.workloads {
        let ours = results.index(OURS).and_then(|at| result.series.get(at));
        let absolute = ours.map_or(f64::NAN, of) / if spread { 1e6 } else { f64::from(1 << 20) };
        let _ = write!(text, "{:<13}{absolute:>6.0}", result.workload);
        for (at, (name, _)) in results.allocators.iter().enumerate() {
            let _ = write!(text, "{:>8.2}", results.ratio(result, at, of));
            if *name == OURS && spread {
                let percent = ours.map_or(f64::NAN, Series::spread) * 100.0;
                let _ = write!(text, "{percent:>4.0}");
            }
        }
        text.push('\n');
    }
    let _ = write!(text, "{:<19}", "geometric mean");
    for (at, (name, _)) in results.allocators.iter().enumerate() {
        let gap = if *name == OURS && spread { "    " } else { "" };
        let _ = write!(text, "{:>8.3}{gap}", results.geomean(at, of));
    }
    text.push('\n');
}

/// The same for machines: ratios of ours by workload, means by allocator, and everything measured.
pub(crate) fn json(about: &About, results: &Results) -> String {
    let by_allocator = |value: &dyn Fn(usize) -> Value| -> Value {
        let names = results.allocators.iter().enumerate();
        Value::Object(names.map(|(at, (name, _))| ((*name).to_owned(), value(at))).collect())
    };
    let ours = results.index(OURS).unwrap_or(0);
    let ratios: Map<String, Value> = results
        .workloads
        .iter()
        .map(|r| (r.workload.clone(), json!(results.ratio(r, ours, Series::time))))
        .collect();
    let measured: Map<String, Value> = results
        .workloads
        .iter()
        .map(|result| {
            let each = by_allocator(&|at| {
                let Some(series) = result.series.get(at) else { return Value::Null };
                json!({
                    "time_ms": series.time() / 1e6,
                    "spread": series.spread(),
                    "time_ratio": results.ratio(result, at, Series::time),
                    "peak_bytes": series.peak(),
                    "peak_ratio": results.ratio(result, at, Series::peak),
                })
            });
            (result.workload.clone(), each)
        })
        .collect();
    let all = json!({
        "time_vs_mimalloc": ratios,
        "geomean_time": by_allocator(&|at| json!(results.geomean(at, Series::time))),
        "geomean_rss": by_allocator(&|at| json!(results.geomean(at, Series::peak))),
        "rounds": about.rounds,
        "machine": about.machine,
        "rustc": about.rustc,
        "command": about.command,
        "versions": by_allocator(&|at| json!(results.allocators.get(at).map(|(_, v)| v))),
        "workloads": measured,
    });
    format!("{all:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Results {
        let series = |nanos, peak| Series::of(&[nanos], &[peak]);
        let result = |name: &str, ours, base| Measured {
            workload: name.to_owned(),
            series: vec![series(ours, 50), series(base, 100)],
        };
        Results {
            allocators: vec![(OURS, "1.0".to_owned()), (BASELINE, "2.0".to_owned())],
            workloads: vec![result("fast", 50, 100), result("slow", 200, 100)],
        }
    }

    #[test]
    fn ratios_and_means_as_json_and_as_text() {
        let about = About {
            machine: "m".to_owned(),
            rustc: "r".to_owned(),
            command: "c".to_owned(),
            rounds: 1,
        };
        let value: Value = serde_json::from_str(&json(&about, &results())).unwrap();
        assert_eq!(value["time_vs_mimalloc"], json!({ "fast": 0.5, "slow": 2.0 }));
        assert_eq!(value["rounds"], 1);
        let near = |value: &Value, to: f64| (value.as_f64().unwrap() - to).abs() < 1e-9;
        assert!(near(&value["geomean_time"]["slabscope"], 1.0));
        assert!(near(&value["geomean_rss"]["slabscope"], 0.5));
        let text = text(&about, &results());
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        assert_eq!(text.matches("0.50").count(), 4, "{text}");
    }
}
