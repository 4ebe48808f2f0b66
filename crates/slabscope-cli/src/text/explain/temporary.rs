//! `slabscope temporary` as text.

use std::io::{self, Write};

use slabscope_analysis::{By, Short, Temporary, TemporaryView};

use super::{CLASSES, Page, SITES, THREADS};
use crate::text::report::heap::dash;
use crate::text::{Column, bytes, count, label, percent, plural, short_time};

/// Writes which objects were freed right after they were allocated.
pub(crate) fn write(
    view: &TemporaryView,
    within: Temporary,
    page: &Page<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    if !page.head("Temporary objects", out)? {
        return Ok(());
    }
    let total = view.total;
    let part = total.part().map_or_else(dash, percent);
    writeln!(
        out,
        "  {} of {} objects allocated, {part}, {}",
        count(total.temporary.objects),
        count(total.allocated.objects),
        bytes(total.temporary.bytes)
    )?;
    let soon = match within {
        Temporary::Events(n) => plural(n, "event of its own", "events of its own"),
        Temporary::Time { ns } => short_time(ns.unsigned_abs()),
    };
    writeln!(out, "  freed by the thread that allocated them, within {soon}")?;
    let columns = |first: Column| {
        let numbers = ["allocated", "temporary", "part", "bytes"].map(Column::number);
        [first].into_iter().chain(numbers).collect::<Vec<_>>()
    };
    let columns_site = columns(Column::name("site"));
    page.table("By site", columns_site, &view.sites, SITES, cells(label::site), out)?;
    let columns_class = columns(Column::number("slot"));
    page.table("By size class", columns_class, &view.classes, CLASSES, cells(label::class), out)?;
    let columns_thread = columns(Column::text("thread"));
    page.table("By thread", columns_thread, &view.threads, THREADS, cells(label::thread), out)
}

fn cells<L>(name: fn(&L) -> String) -> impl Fn(&By<L, Short>) -> Vec<String> {
    move |row| {
        let short = row.figures;
        vec![
            name(&row.label),
            count(short.allocated.objects),
            count(short.temporary.objects),
            short.part().map_or_else(dash, percent),
            bytes(short.temporary.bytes),
        ]
    }
}
