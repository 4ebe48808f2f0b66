//! The answers of the commands that answer one question each, as text.

mod diff;
mod groups;
mod leaks;
mod peak;
mod sites;
mod sizes;
mod spans;
mod temporary;
mod threads;
mod types;

pub(crate) use diff::write as diff;
pub(crate) use groups::write as groups;
pub(crate) use leaks::write as leaks;
pub(crate) use peak::write as peak;
pub(crate) use sites::write as sites;
pub(crate) use sizes::write as sizes;
pub(crate) use spans::write as spans;
pub(crate) use temporary::write as temporary;
pub(crate) use threads::write as threads;
pub(crate) use types::write as types;

use std::io::{self, Write};
use std::path::Path;

use slabscope_analysis::{Figures, Origin, Part, Profile};

use super::report::about::part;
use super::report::heap::dash;
use super::report::{Rows, heading};
use super::{Column, Table, bytes, count, escape, plural, short_time};

/// What every answer stands on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page<'a> {
    pub(crate) path: &'a Path,
    pub(crate) profile: &'a Profile,
    /// How much of long tables to show.
    pub(crate) rows: Rows,
}

impl Page<'_> {
    /// Writes what the answer is about; returns whether there is anything to say.
    fn head(&self, what: &str, out: &mut dyn Write) -> io::Result<bool> {
        writeln!(out, "{what} of {}", escape(&self.path.to_string_lossy()))?;
        self.part(&self.profile.part, out)?;
        if !self.profile.is_empty() {
            return Ok(true);
        }
        let advice = match self.profile.tracing.origin {
            Origin::Slabscope => "  The program allocated nothing while it was traced.",
            Origin::Go => {
                "  The trace has no objects. A Go program records them when it runs with\n  \
                 GODEBUG=traceallocfree=1, from Go 1.23 on."
            }
        };
        writeln!(out, "{advice}")?;
        Ok(false)
    }

    fn part(&self, of: &Part, out: &mut dyn Write) -> io::Result<()> {
        if of.is_whole() { Ok(()) } else { writeln!(out, "  part {}", part(of)) }
    }

    /// Writes a table of the first of `rows`, which stand in the order of their importance.
    fn table<R>(
        &self,
        title: &str,
        columns: impl Into<Vec<Column>>,
        rows: &[R],
        things: [&str; 2],
        cells: impl Fn(&R) -> Vec<String>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        heading(title, out)?;
        if rows.is_empty() {
            return writeln!(out, "  none");
        }
        let mut table = Table::new(columns);
        let shown = self.rows.of(rows.len());
        for row in rows.iter().take(shown) {
            table.row(cells(row));
        }
        table.write(out)?;
        let [one, many] = things;
        match rows.len() - shown.min(rows.len()) {
            0 => Ok(()),
            n => writeln!(out, "  and {}; --all shows them", plural(n as u64, one, many)),
        }
    }
}

/// The columns of [`of_figures`], behind this one.
fn figures(first: Column) -> Vec<Column> {
    let numbers = ["allocs", "bytes", "peak", "left", "slack", "half"].map(Column::number);
    [first].into_iter().chain(numbers).collect()
}

/// What the objects of several sites did.
fn of_figures(figures: &Figures) -> [String; 6] {
    [
        count(figures.allocated.objects),
        bytes(figures.allocated.bytes),
        bytes(figures.at_peak.bytes),
        bytes(figures.live.bytes),
        bytes(figures.slack_bytes),
        figures.lifetime.map_or_else(dash, |lifetime| short_time(lifetime.half_ns)),
    ]
}

/// What three tables are about.
const SITES: [&str; 2] = ["other site", "other sites"];
const CLASSES: [&str; 2] = ["other size class", "other size classes"];
const THREADS: [&str; 2] = ["other thread", "other threads"];

/// A part of a whole as a cell; nothing of nothing is a dash.
fn share(part: u64, whole: u64) -> String {
    match whole {
        0 => dash(),
        _ => super::percent(part as f64 / whole as f64),
    }
}
