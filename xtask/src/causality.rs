//! `cargo xtask causality`: traces of threads that hand objects to each other, one after the other, each
//! verified and then removed.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::command;
use crate::text::grouped;
use crate::workspace::Workspace;

/// Events of a trace at most: some 600 MB.
const EVENTS_MAX: u64 = 100_000_000;

/// An object is an alloc and a free, and handing it over takes an object now and then.
const EVENTS_OF_TEN_OBJECTS: u64 = 24;

/// How a trace is made, and what the program meets meanwhile.
const CASES: [(&str, Trials); 7] = [
    ("rings=auto", Trials::NONE),
    ("rings=auto", Trials::PESTERED),
    ("rings=cas", Trials::PESTERED),
    ("rings=cas", Trials::NONE),
    ("rings=auto,clock=precise", Trials::PESTERED),
    ("rings=auto", Trials::PESTERED_AND_FORKING),
    ("rings=cas", Trials::PESTERED_AND_FORKING),
];

/// What makes it hard for the program.
#[derive(Clone, Copy)]
struct Trials {
    /// As the table shows it.
    name: &'static str,
    /// Variables that ask the program for it.
    variables: &'static [&'static str],
}

impl Trials {
    const NONE: Trials = Trials { name: "left alone", variables: &[] };
    const PESTERED: Trials =
        Trials { name: "moved and signalled", variables: &["SLABSCOPE_PESTER"] };
    const PESTERED_AND_FORKING: Trials = Trials {
        name: "moved, signalled, forked",
        variables: &["SLABSCOPE_PESTER", "SLABSCOPE_FORK"],
    };
}

/// Makes traces until there were `events` in all, in all ways by turns.
pub(crate) fn run(workspace: &Workspace, events: u64) -> Result<()> {
    let slabscope = workspace.build("slabscope-cli", "slabscope")?;
    let directory = workspace.target().join("causality");
    fs::create_dir_all(&directory)?;
    let of_each = events.div_ceil(CASES.len() as u64).min(EVENTS_MAX);
    let (mut sum, mut traces) = (0, 0);
    for (options, trials) in CASES.into_iter().cycle() {
        if sum >= events {
            break;
        }
        let trace = directory.join("handing-over.trace");
        let begun = Instant::now();
        make(workspace, &trace, options, trials, of_each)?;
        let made = begun.elapsed().as_secs_f64();
        let checked = verify(&slabscope, &trace)?;
        fs::remove_file(&trace)?;
        (sum, traces) = (sum + checked, traces + 1);
        let seconds = begun.elapsed().as_secs_f64();
        println!(
            "{options:<24} {:<24} {:>14} events, made in {made:.1} s, all in {seconds:.1} s",
            trials.name,
            grouped(checked)
        );
    }
    println!("{} events in {traces} traces: no fault in their order, none lost", grouped(sum));
    Ok(())
}

fn make(
    workspace: &Workspace,
    trace: &Path,
    options: &str,
    trials: Trials,
    events: u64,
) -> Result<()> {
    let out = trace.to_str().filter(|path| !path.contains(','));
    let out = out.context("the target directory's name holds a comma or is no text")?;
    let mut program = workspace.cargo();
    program.args(["test", "--quiet", "--release", "--package", "slabscope"]);
    program.args(["--test", "causality", "--", "--exact", "hands_over", "--ignored"]);
    let variable = format!("traceallocfree=1,{options},out={}", out.replace('%', "%%"));
    program.env("SLABSCOPE", variable);
    program.env("SLABSCOPE_OBJECTS", (events / EVENTS_OF_TEN_OBJECTS * 10).to_string());
    program.envs(trials.variables.iter().map(|name| (name, "1")));
    command::output(&mut program)?;
    Ok(())
}

/// How many events of the heap `trace` has, none of which contradicts those before it.
fn verify(slabscope: &Path, trace: &Path) -> Result<u64> {
    let output = command::output(Command::new(slabscope).args(["verify", "--json"]).arg(trace))?;
    let answer: serde_json::Value = serde_json::from_slice(&output)?;
    ensure!(answer["verify"]["is_sound"] == true, "{}: {answer}", trace.display());
    answer["verify"]["heap_events"].as_u64().context("the answer has no count of events")
}
