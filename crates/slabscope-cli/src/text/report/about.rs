//! What the trace is of, and whether it is all there.

use std::io::{self, Write};
use std::path::Path;

use slabscope_analysis::{Completeness, End, Origin, Part, Report, State, Tracing};

use crate::text::{Column, Table, count, duration, escape, moment, plural, wall};

/// Writes the first section.
pub(super) fn write(path: &Path, report: &Report, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "Trace {}", escape(&path.to_string_lossy()))?;
    let mut table = Table::new([Column::text(""), Column::text("")]);
    let mut row = |title: &str, text: String| table.row([title.to_owned(), text]);
    let tracing = &report.tracing;
    for (title, text) in build(tracing) {
        row(title, text);
    }
    let generations = plural(tracing.generations, "generation", "generations");
    let events = report.events.heap_total().saturating_add(report.events.other);
    let events = plural(events, "event", "events");
    row("format", format!("Go 1.{}, {generations}, {events}", tracing.format));
    if let Some(wall) = wall(&tracing.start) {
        row("started", wall);
    }
    if report.part.is_whole() {
        row("lasted", duration(tracing.duration_ns));
    } else {
        row("part", part(&report.part));
    }
    if let Some(end) = end(&report.completeness) {
        row("ended", end.to_owned());
    }
    row("complete", complete(report));
    table.write(out)
}

/// Says why a report is so short.
pub(super) fn no_heap_events(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let advice = match report.tracing.origin {
        _ if report.error.is_some() || report.tracing.generations == 0 => {
            "Nothing of the heap could be read."
        }
        Origin::Slabscope => "The program allocated nothing while it was traced.",
        Origin::Go => {
            "The trace has no events of the heap. A Go program records them when it runs\n\
             with GODEBUG=traceallocfree=1, from Go 1.23 on."
        }
    };
    writeln!(out, "\n{advice}")
}

/// The part of the trace, as a line.
pub(crate) fn part(part: &Part) -> String {
    let to = moment(&part.to);
    let after = if part.has_after { "" } else { ", the end" };
    format!("{} to {to}{after}", moment(&part.from))
}

/// What the writer says of itself and the program.
fn build(tracing: &Tracing) -> Vec<(&'static str, String)> {
    let get = |key| tracing.build.get(key).map(String::as_str).filter(|text| !text.is_empty());
    let mut rows = Vec::new();
    if tracing.origin == Origin::Go {
        rows.push(("made by", "Go, or another writer of its format".to_owned()));
    }
    if let Some(executable) = get("executable") {
        let pid = get("pid").map(|pid| format!(", process {pid}")).unwrap_or_default();
        rows.push(("program", format!("{executable}{pid}")));
    }
    if let Some(command) = get("command") {
        rows.push(("command", command.to_owned()));
    }
    if let Some(writer) = get("writer") {
        rows.push(("made by", writer.to_owned()));
    }
    if let Some(options) = get("options") {
        rows.push(("options", options.to_owned()));
    }
    let how = ["rings", "cpus", "clock"]
        .into_iter()
        .filter_map(|key| get(key).map(|text| format!("{key} {text}")));
    let how = how.collect::<Vec<_>>().join(", ");
    if !how.is_empty() {
        rows.push(("recorder", how));
    }
    rows
}

fn end(completeness: &Completeness) -> Option<&'static str> {
    Some(match completeness.end? {
        End::Stopped => "the program stopped tracing",
        End::Exited => "the program exited",
        End::WriteFailed => "the file could take no more",
        End::Killed => "the program was killed, or left by _exit or exec; all it recorded is here",
        End::Unknown => "for a reason this version does not know",
    })
}

fn complete(report: &Report) -> String {
    let in_file = plural(report.events.heap_total(), "heap event", "heap events");
    match report.completeness.state {
        State::Complete => format!("yes: {in_file}, as its closing counts say"),
        State::Lost => {
            let lost = plural(report.completeness.lost(), "event is", "events are");
            format!("NO: {lost} lost, see below")
        }
        State::Miscounted => "NO: the file is not what its counts say, see below".to_owned(),
        State::CutOff => format!("NO: cut off after {in_file}"),
        State::Broken => match &report.error {
            Some(error) => format!("NO: broken at offset {}", count(error.offset)),
            None => "NO".to_owned(),
        },
        State::NoCounts if report.tracing.generations == 0 => {
            "NO: there is nothing behind the header".to_owned()
        }
        State::NotRead => "not known: what comes after the part was not read".to_owned(),
        State::NoCounts => "not known: Go's traces carry no counts".to_owned(),
    }
}
