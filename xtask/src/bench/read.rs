//! `cargo xtask bench read`: how fast traces are read, beside Go's tool.
//!
//! The trace is of one run of the demo, over its sources so often that there are enough events.

mod heaptrack;
mod index;
mod large;
mod memory;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};

use crate::go_oracle::Go;
use crate::text::grouped;
use crate::workspace::Workspace;
use crate::{command, demo, go_oracle};

/// What to run.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How many events to read, in millions
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    millions: u64,
    /// How often to measure; the median counts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only decode: Go's tool is not needed
    #[arg(long)]
    decode_only: bool,
    /// Write the results to this file too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs it.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let directory = workspace.target().join("bench-read");
    fs::create_dir_all(&directory)
        .with_context(|| format!("{}: cannot be made", directory.display()))?;
    let demo = demo::make_trace(workspace)?;
    let trace = directory.join("large.trace");
    large::make(workspace, &demo, &trace, options.millions * 1_000_000)?;

    let decoded = decode(workspace, &trace, options.rounds)?;
    println!("decode: {} events/s, of {} events", grouped(decoded.rate), grouped(decoded.events));
    let mut results = json!({ "decode_events_per_s": decoded.rate });
    if !options.decode_only {
        let slabscope = workspace.build("slabscope-cli", "slabscope")?;
        let report = median(options.rounds, || time(&mut self::report(&slabscope, &trace)))?;
        let rate = (decoded.events as f64 / report) as u64;
        println!("report: {} events/s, the whole command", grouped(rate));
        results["report_events_per_s"] = json!(rate);
        let Summary { peak, live, seconds } = summary(&slabscope, &trace)?;
        println!("report: {} MiB of memory, live at the peak {} MiB", peak >> 20, live >> 20);
        results["report_peak_rss_bytes"] = json!(peak);
        results["report_peak_rss_over_live"] = json!(peak as f64 / live.max(1) as f64);
        index::measure(&slabscope, &trace, seconds, options.rounds, &mut results)?;
        if let Some(ratio) = heaptrack::compare(workspace, &directory, options.rounds)? {
            println!("report against heaptrack_print: {ratio:.1} times as fast");
            results["report_vs_heaptrack_print"] = json!(ratio);
        }
        let part = directory.join("part.trace");
        large::first_generation(&demo, &part)?;
        let (ours, theirs) = dumps(workspace, &part, options.rounds)?;
        println!("dump: {ours:.2} s, go tool trace -d=parsed: {theirs:.2} s");
        println!("dump against Go's: {:.1} times as fast", theirs / ours);
        results["dump_vs_go"] = json!(theirs / ours);
    }
    if let Some(path) = &options.json {
        fs::write(path, format!("{results:#}\n"))
            .with_context(|| format!("{}: cannot be written", path.display()))?;
    }
    fs::remove_file(&trace).with_context(|| format!("{}: cannot be removed", trace.display()))
}

struct Decoded {
    events: u64,
    /// Events a second.
    rate: u64,
}

/// Decodes with a program that only counts; the file is in memory before it begins. One thread does
/// both: counting costs less than handing events over.
fn decode(workspace: &Workspace, trace: &Path, rounds: u32) -> Result<Decoded> {
    command::run(workspace.cargo().args([
        "build",
        "--quiet",
        "--release",
        "--package",
        "slabscope-trace",
        "--example",
        "count",
    ]))?;
    let program = workspace.target().join("release/examples/count");
    let mut events = 0;
    let seconds = median(rounds, || {
        let said =
            String::from_utf8(command::output(Command::new(&program).arg(trace).arg("here"))?)?;
        let words: Vec<_> = said.split_whitespace().collect();
        let place = words.iter().position(|&word| word == "frees");
        let (Some(count), Some(seconds)) =
            (words.first(), place.and_then(|place| words.get(place + 1)))
        else {
            bail!("the counting program said: {said}");
        };
        events = count.parse()?;
        Ok(seconds.parse()?)
    })?;
    Ok(Decoded { events, rate: (events as f64 / seconds) as u64 })
}

/// The command that replays all of the trace, and neither uses an index nor leaves one.
fn report(slabscope: &Path, trace: &Path) -> Command {
    let mut command = Command::new(slabscope);
    command.args(["report", "--no-index"]).arg(trace);
    command
}

/// What a report of the trace says, and what it takes to make it.
struct Summary {
    /// The most memory in use for it, in bytes.
    peak: u64,
    /// What was live at the peak of the traced program, in bytes.
    live: u64,
    /// How long the trace is.
    seconds: f64,
}

fn summary(slabscope: &Path, trace: &Path) -> Result<Summary> {
    let peak = memory::peak(&mut report(slabscope, trace))?;
    let json = command::output(report(slabscope, trace).arg("--json"))?;
    let json: Value = serde_json::from_slice(&json)?;
    let live = json["report"]["objects"]["peak"]["bytes"].as_u64();
    let duration_ns = json["report"]["part"]["to"]["since_start_ns"].as_f64();
    Ok(Summary {
        peak,
        live: live.context("the report has no peak")?,
        seconds: duration_ns.context("the report has no end")? / 1e9,
    })
}

/// How long our dump and Go's take, in seconds.
fn dumps(workspace: &Workspace, trace: &Path, rounds: u32) -> Result<(f64, f64)> {
    let go = Go::install(&go_oracle::directory(workspace), workspace)?;
    let slabscope = workspace.build("slabscope-cli", "slabscope")?;
    let ours = median(rounds, || time(Command::new(&slabscope).arg("dump").arg(trace)))?;
    Ok((ours, median(rounds, || time(&mut go.dump(trace)))?))
}

fn time(command: &mut Command) -> Result<f64> {
    let line = command::line(command);
    let begun = Instant::now();
    let status = command.stdout(Stdio::null()).status()?;
    if !status.success() {
        bail!("{status}: {line}");
    }
    Ok(begun.elapsed().as_secs_f64())
}

fn median(rounds: u32, mut measure: impl FnMut() -> Result<f64>) -> Result<f64> {
    let mut all = (0..rounds).map(|_| measure()).collect::<Result<Vec<_>>>()?;
    all.sort_by(f64::total_cmp);
    let seconds: Vec<_> = all.iter().map(|one| format!("{one:.3}")).collect();
    println!("  seconds of each round: {}", seconds.join(", "));
    all.get(all.len() / 2).copied().context("nothing was measured")
}
