//! The report as text: one section after the other, each under a short heading.

pub(crate) mod about;
pub(crate) mod heap;
mod tables;
mod trouble;

use std::io::{self, Write};
use std::path::Path;

use slabscope_analysis::Report;

/// How much of long tables to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    /// All of it.
    All,
    /// The rows with the most bytes.
    Largest,
}

impl Rows {
    /// How many rows of a table of `len` to show.
    pub(crate) fn of(self, len: usize) -> usize {
        match self {
            Rows::All => len,
            // A table that is hardly longer is shown whole: "and 1 more" takes a line too.
            Rows::Largest if len <= self.most() => len,
            Rows::Largest => LARGEST,
        }
    }

    /// The most rows that are shown of any table.
    pub(crate) fn most(self) -> usize {
        match self {
            Rows::All => usize::MAX,
            Rows::Largest => LARGEST + 2,
        }
    }
}

const LARGEST: usize = 20;

/// Writes the report.
pub(crate) fn write(
    path: &Path,
    report: &Report,
    rows: Rows,
    out: &mut impl Write,
) -> io::Result<()> {
    about::write(path, report, out)?;
    trouble::write(report, out)?;
    heap::events(&report.events, out)?;
    if report.events.heap_total() == 0 {
        return about::no_heap_events(report, out);
    }
    heap::objects(report, out)?;
    tables::classes(&report.classes, rows, out)?;
    tables::threads(report, rows, out)?;
    heap::spans(&report.spans, out)?;
    heap::stacks(&report.stacks, out)
}

pub(crate) fn heading(title: &str, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    writeln!(out, "\n{title}")
}
