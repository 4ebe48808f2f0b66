//! `slabscope diff` as text.

use std::io::{self, Write};
use std::path::Path;

use slabscope_analysis::{Amount, By, Change, Compared, Diff, Totals};

use super::{CLASSES, Page, SITES};
use crate::text::report::heading;
use crate::text::{Column, Table, bytes, count, escape, label, signed_bytes, signed_count};

/// Writes what changed.
pub(crate) fn write(
    diff: &Diff,
    before: &Path,
    page: &Page<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let [from, to] = [before, page.path].map(|path| escape(&path.to_string_lossy()));
    writeln!(out, "From {from}\n  to {to}")?;
    page.part(&page.profile.part, out)?;
    totals(&diff.totals, out)?;
    let columns = |first: Column| {
        let numbers = ["allocs", "bytes", "at peak", "left"].map(Column::number);
        [first].into_iter().chain(numbers).collect::<Vec<_>>()
    };
    let (sites, classes) = (&diff.sites, &diff.classes);
    let site = columns(Column::name("site"));
    page.table("More or less by site", site, sites, SITES, cells(label::site), out)?;
    let class = columns(Column::number("slot"));
    page.table("More or less by size class", class, classes, CLASSES, cells(label::class), out)
}

fn cells<L>(name: fn(&L) -> String) -> impl Fn(&By<L, Change<Compared>>) -> Vec<String> {
    move |row| {
        let change = |figure: fn(&Compared) -> u64| {
            let Change { before, after } = &row.figures;
            difference(figure(before), figure(after))
        };
        vec![
            name(&row.label),
            signed_count(change(|it| it.allocated.objects)),
            signed_bytes(change(|it| it.allocated.bytes)),
            signed_bytes(change(|it| it.at_peak.bytes)),
            signed_bytes(change(|it| it.live.bytes)),
        ]
    }
}

fn totals(change: &Change<Totals>, out: &mut dyn Write) -> io::Result<()> {
    heading("All objects", out)?;
    let titles = ["objects before", "after", "bytes before", "after", "more"];
    let columns = [Column::text("")].into_iter().chain(titles.map(Column::number));
    let mut table = Table::new(columns.collect::<Vec<_>>());
    let mut row = |title: &str, figure: fn(&Totals) -> Amount| {
        let (before, after) = (figure(&change.before), figure(&change.after));
        table.row([
            title.to_owned(),
            count(before.objects),
            count(after.objects),
            bytes(before.bytes),
            bytes(after.bytes),
            signed_bytes(difference(before.bytes, after.bytes)),
        ]);
    };
    row("allocated", |it| it.allocated);
    row("freed", |it| it.freed);
    row("temporary", |it| it.temporary);
    row("at peak", |it| Amount { objects: it.peak.objects, bytes: it.peak.bytes });
    row("left", |it| it.live);
    table.write(out)
}

fn difference(before: u64, after: u64) -> i64 {
    let difference = i128::from(after) - i128::from(before);
    i64::try_from(difference).unwrap_or(if difference < 0 { i64::MIN } else { i64::MAX })
}
