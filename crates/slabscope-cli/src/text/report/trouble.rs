//! What is wrong with the trace; nothing is written where nothing is.

use std::io::{self, Write};

use slabscope_analysis::Report;

use super::heading;
use crate::text::verify::side_problem;
use crate::text::{Column, Table, count, escape, moment, plural};

/// Writes the sections that only a broken or incomplete trace has.
pub(super) fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    if let Some(error) = &report.error {
        heading("Broken", out)?;
        writeln!(out, "  offset {}: {}", error.offset, escape(&error.what))?;
        writeln!(out, "  Everything below is about what was read before that.")?;
    }
    counts(report, out)?;
    faults(report, out)?;
    if report.unknown_sites > 0 {
        let objects = plural(report.unknown_sites, "object", "objects");
        heading("Sites", out)?;
        writeln!(out, "  {objects} allocated at sites the trace does not have")?;
    }
    if report.side_problem_count > 0 {
        heading("Side data", out)?;
        for problem in &report.side_problems {
            writeln!(out, "  {}", side_problem(problem))?;
        }
        let more = report.side_problem_count - report.side_problems.len() as u64;
        if more > 0 {
            writeln!(out, "  and {} more", count(more))?;
        }
    }
    Ok(())
}

fn counts(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let odd = |row: &&slabscope_analysis::CountRow| row.lost > 0 || !row.adds_up();
    if !report.completeness.counts.iter().any(|row| odd(&row)) {
        return Ok(());
    }
    heading("Missing events", out)?;
    let titles = ["happened", "lost", "in the file"];
    let columns = [Column::text("")].into_iter().chain(titles.map(Column::number));
    let mut table = Table::new(columns.collect::<Vec<_>>());
    for row in report.completeness.counts.iter().filter(odd) {
        let numbers = [row.happened, row.lost, row.in_file].map(count);
        table.row([row.event.to_owned()].into_iter().chain(numbers));
    }
    table.write(out)
}

fn faults(report: &Report, out: &mut impl Write) -> io::Result<()> {
    if report.faults.is_empty() {
        return Ok(());
    }
    heading("Contradictions (more with 'slabscope verify')", out)?;
    let mut table = Table::new([
        Column::text(""),
        Column::number("times"),
        Column::number("first"),
        Column::number("thread"),
        Column::number("id"),
    ]);
    for row in &report.faults {
        let first = row.examples.first();
        let cells = first.map(|e| [moment(&e.at), e.thread.to_string(), e.id.to_string()]);
        let head = [row.kind.to_string(), count(row.count)];
        table.row(head.into_iter().chain(cells.into_iter().flatten()));
    }
    table.write(out)
}
