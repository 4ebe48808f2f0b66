//! `slabscope threads` as text.

use std::io::{self, Write};

use slabscope_analysis::{By, PairRow, ThreadFigures, ThreadLabel, ThreadsView};

use super::{Page, THREADS};
use crate::text::report::heading;
use crate::text::{Column, Table, bytes, count, label};

/// A matrix with more threads than this does not fit 80 columns.
const MATRIX_MAX: usize = 5;

/// Writes who allocated and who freed.
pub(crate) fn write(view: &ThreadsView, page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    if !page.head("Threads", out)? {
        return Ok(());
    }
    let numbers = ["allocs", "bytes", "at peak", "left", "frees"].map(Column::number);
    let columns: Vec<_> = [Column::text("thread")].into_iter().chain(numbers).collect();
    let cells = |row: &By<ThreadLabel, ThreadFigures>| {
        let figures = row.figures;
        vec![
            label::thread(&row.label),
            count(figures.allocated.objects),
            bytes(figures.allocated.bytes),
            bytes(figures.at_peak.bytes),
            bytes(figures.live.bytes),
            count(figures.freed.objects),
        ]
    };
    page.table("What each allocated", columns, &view.threads, THREADS, cells, out)?;
    if view.threads.len() <= MATRIX_MAX { matrix(view, out) } else { pairs(view, page, out) }
}

/// Who allocated, line by line, and who freed, column by column.
fn matrix(view: &ThreadsView, out: &mut dyn Write) -> io::Result<()> {
    heading("Objects by who allocated (down) and who freed (across)", out)?;
    let threads: Vec<&ThreadLabel> = view.threads.iter().map(|row| &row.label).collect();
    let freeing: Vec<_> = threads.iter().filter(|label| label.thread.is_some()).collect();
    let columns = [Column::text("")].into_iter();
    let columns = columns.chain(freeing.iter().map(|_| Column::number("")));
    let mut table = Table::new(columns.collect::<Vec<_>>());
    let number = |label: &ThreadLabel| label.thread.map_or_else(String::new, |id| id.to_string());
    table.row([String::new()].into_iter().chain(freeing.iter().map(|label| number(label))));
    for &owner in &threads {
        let freed = |by: &&&ThreadLabel| {
            let is_it = |row: &&PairRow| row.allocated_by == *owner && row.freed_by == ***by;
            count(view.pairs.iter().filter(is_it).map(|row| row.freed.objects).sum())
        };
        let numbers = freeing.iter().map(freed);
        table.row([label::thread(owner)].into_iter().chain(numbers));
    }
    table.write(out)
}

fn pairs(view: &ThreadsView, page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        Column::text("allocated by"),
        Column::text("freed by"),
        Column::number("objects"),
        Column::number("bytes"),
    ];
    let cells = |row: &PairRow| {
        vec![
            label::thread(&row.allocated_by),
            label::thread(&row.freed_by),
            count(row.freed.objects),
            bytes(row.freed.bytes),
        ]
    };
    let things = ["other pair", "other pairs"];
    page.table("Who frees whose objects", columns, &view.pairs, things, cells, out)
}
