//! `cargo xtask demo`: a real program, run with and without a trace, and the report of the trace.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use slabscope_trace::alloc_free::GenerationData;
use slabscope_trace::{Kind, Reader};

use crate::command;
use crate::text::{bytes, grouped};
use crate::workspace::Workspace;

/// Runs without a trace, of which the fastest counts; the first also brings the sources into memory.
const UNTRACED_RUNS: usize = 3;

/// Runs it and explains the trace.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let demo = Demo::build(workspace)?;
    let made = demo.trace(&trace_path(workspace)?)?;
    println!("The program says:\n");
    print!("{}", made.output);
    println!("\nIts trace says:\n");
    command::run(Command::new(&demo.slabscope).arg("report").arg(&made.trace))?;
    println!();
    command::run(Command::new(&demo.slabscope).arg("verify").arg(&made.trace))?;
    print!("\n{}", made.summary()?);
    println!("{}", next_steps(&demo.slabscope, &made.trace));
    Ok(())
}

/// Where the demo's trace goes.
fn trace_path(workspace: &Workspace) -> Result<PathBuf> {
    let directory = workspace.target().join("demo");
    fs::create_dir_all(&directory)
        .with_context(|| format!("{}: cannot be made", directory.display()))?;
    Ok(directory.join("slabscope-demo.trace"))
}

/// Makes the demo's trace for somebody else to look at.
pub(crate) fn make_trace(workspace: &Workspace) -> Result<PathBuf> {
    Ok(Demo::build(workspace)?.trace(&trace_path(workspace)?)?.trace)
}

/// Makes one trace of a demo that reads its sources so many times, by other paths below `links` each time.
pub(crate) fn make_large_trace(
    workspace: &Workspace,
    links: &Path,
    times: u64,
    trace: &Path,
) -> Result<()> {
    let demo = Demo::build(workspace)?;
    let mut sources = Vec::new();
    for time in 0..times {
        for (number, source) in demo.sources.iter().enumerate() {
            let link = links.join(format!("{time}-{number}"));
            symlink(source, &link)
                .with_context(|| format!("{}: cannot be made", link.display()))?;
            sources.push(link);
        }
    }
    Demo { sources, ..demo }.run(Some((trace, 0))).map(drop)
}

/// Makes the demo's trace with call stacks of `stacks` frames; the `slabscope` to explain it, and the trace.
pub(crate) fn with_stacks(workspace: &Workspace, stacks: u32) -> Result<(PathBuf, PathBuf)> {
    let (demo, trace) =
        (Demo::build(workspace)?, trace_path(workspace)?.with_extension("stacks.trace"));
    demo.run(Some((&trace, stacks)))?;
    Ok((demo.slabscope, trace))
}

/// The programs, and what the demo is run on.
struct Demo {
    program: PathBuf,
    slabscope: PathBuf,
    sources: Vec<PathBuf>,
}

/// A trace that was made.
struct Made {
    trace: PathBuf,
    output: String,
    traced: Duration,
    untraced: Duration,
}

impl Demo {
    fn build(workspace: &Workspace) -> Result<Demo> {
        let program = workspace.build("slabscope-demo", "slabscope-demo")?;
        let slabscope = workspace.build("slabscope-cli", "slabscope")?;
        let mut sources = workspace.sources_of("slabscope-demo")?;
        // The rest of the workspace; what lies inside a directory already there is read once.
        let members = workspace.members();
        sources.extend(members.iter().filter_map(|member| {
            member.manifest_path.parent().map(|directory| directory.as_std_path().to_owned())
        }));
        Ok(Demo { program, slabscope, sources: sources.into_iter().collect() })
    }

    fn trace(&self, trace: &Path) -> Result<Made> {
        let mut runs = (0..UNTRACED_RUNS).map(|_| self.run(None)).collect::<Result<Vec<_>>>()?;
        runs.sort_by_key(|&(_, time)| time);
        let Some((expected, untraced)) = runs.into_iter().next() else {
            bail!("the demo was not run");
        };
        let (output, traced) = self.run(Some((trace, 0)))?;
        let [output, expected] = [output, expected].map(String::from_utf8);
        let (output, expected) = (output?, expected?);
        if let Some((traced, untraced)) = first_difference(&output, &expected) {
            bail!(
                "the demo printed something else when it was traced, or a source changed meanwhile\n  \
                 untraced: {untraced}\n  traced:   {traced}"
            );
        }
        Ok(Made { trace: trace.to_owned(), output, traced, untraced })
    }

    fn run(&self, trace: Option<(&Path, u32)>) -> Result<(Vec<u8>, Duration)> {
        let mut program = Command::new(&self.program);
        program.args(&self.sources).env_remove("SLABSCOPE");
        if let Some((trace, stacks)) = trace {
            // A per cent sign would begin a pattern, and the list's comma ends a value.
            let trace = trace.to_str().filter(|path| !path.contains(','));
            let trace = trace.context("the target directory's name holds a comma or is no text")?;
            let out = trace.replace('%', "%%");
            program.env("SLABSCOPE", format!("traceallocfree=1,stacks={stacks},out={out}"));
        }
        let begun = Instant::now();
        let output = command::output(&mut program)?;
        Ok((output, begun.elapsed()))
    }
}

impl Made {
    /// How much was recorded, and what it cost.
    fn summary(&self) -> Result<String> {
        let (happened, lost) = closing_counts(&self.trace)?;
        let size = fs::metadata(&self.trace)?.len();
        let (traced, untraced) = (self.traced.as_secs_f64(), self.untraced.as_secs_f64());
        let recorded = happened.saturating_sub(lost);
        let rows = [
            ("Recorded", format!("{} events, {} lost", grouped(recorded), grouped(lost))),
            ("Events a second", grouped((recorded as f64 / traced) as u64)),
            ("Traced run", format!("{traced:.2} s")),
            ("Untraced run", format!("{untraced:.2} s, the best of {UNTRACED_RUNS}")),
            ("Ratio", format!("{:.2}", traced / untraced)),
            (
                "Trace",
                format!("{}, {:.1} bytes an event", bytes(size), size as f64 / recorded as f64),
            ),
        ];
        Ok(rows.map(|(name, value)| format!("{name:<18} {value}\n")).concat())
    }
}

/// Events that happened and events lost, by the trace's own closing counts.
fn closing_counts(trace: &Path) -> Result<(u64, u64)> {
    let name = trace.display();
    let content = fs::read(trace).with_context(|| format!("{name}: cannot be read"))?;
    let mut closing = None;
    for event in Reader::new(&content).with_context(|| name.to_string())? {
        if let Kind::Sync(sync) = event.with_context(|| name.to_string())?.kind {
            closing = GenerationData::parse(&sync.experimental).closing.or(closing);
        }
    }
    let closing = closing.with_context(|| format!("{name}: it has no closing counts"))?;
    let sum = |pick: fn(&(u64, u64, u64)) -> u64| closing.kinds.iter().map(pick).sum();
    Ok((sum(|kind| kind.1), sum(|kind| kind.2)))
}

/// The first line that differs, of either.
fn first_difference<'a>(one: &'a str, other: &'a str) -> Option<(&'a str, &'a str)> {
    let longer = one.lines().count().max(other.lines().count());
    let lines = |text: &'a str| text.lines().chain(std::iter::repeat("(nothing more)"));
    lines(one).zip(lines(other)).take(longer).find(|(one, other)| one != other)
}

fn next_steps(slabscope: &Path, trace: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let [slabscope, trace] =
        [slabscope, trace].map(|path| path.strip_prefix(&here).unwrap_or(path).display());
    format!(
        "\nThe trace lies in\n  {trace}\nGo on with\n  {slabscope} report --all {trace}\n  \
         {slabscope} dump {trace} | less\n  {slabscope} --help\n  go tool trace {trace}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_found() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(("b", "c")));
        assert_eq!(first_difference("a\n", "a\nb\n"), Some(("(nothing more)", "b")));
    }
}
