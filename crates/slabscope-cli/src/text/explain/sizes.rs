//! `slabscope sizes` as text.

use std::collections::BTreeMap;
use std::io::{self, Write};

use slabscope_analysis::{Amount, SizeRow, SizesView};

use super::{CLASSES, Page, share};
use crate::text::report::heading;
use crate::text::{Column, Table, bytes, count, label, percent};

/// The widest bar.
const BAR: usize = 20;

/// Writes which sizes were asked for.
pub(crate) fn write(view: &SizesView, page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    if !page.head("Sizes", out)? {
        return Ok(());
    }
    let asked = &view.requested;
    if let Some(slack) = asked.slack_part() {
        let objects = count(asked.objects);
        writeln!(out, "  {} asked for by {objects} objects", bytes(asked.bytes))?;
        writeln!(
            out,
            "  {} of slack in their slots, {}",
            bytes(asked.slack_bytes),
            percent(slack)
        )?;
        histogram(&view.sizes, asked.objects, out)?;
        largest(view, page, out)?;
    }
    if view.slots.is_empty() {
        return Ok(());
    }
    let columns = ["slot", "allocated", "bytes"].map(Column::number);
    let cells = |row: &slabscope_analysis::SlotRow| {
        vec![label::class(&row.class), count(row.allocated.objects), bytes(row.allocated.bytes)]
    };
    let title = "Slots of objects whose size the trace does not tell";
    page.table(title, columns, &view.slots, CLASSES, cells, out)
}

/// Sizes from one power of two to the next.
fn histogram(sizes: &[SizeRow], all: u64, out: &mut dyn Write) -> io::Result<()> {
    let mut powers = BTreeMap::<u64, (Amount, u64)>::new();
    for row in sizes {
        let power = row.size.max(1).checked_next_power_of_two().unwrap_or(u64::MAX);
        let (amount, slack) = powers.entry(power).or_default();
        amount.objects += row.allocated.objects;
        amount.bytes = amount.bytes.saturating_add(row.allocated.bytes);
        *slack = slack.saturating_add(row.slack_bytes);
    }
    heading("By power of two", out)?;
    let titles = ["up to", "allocated", "share", "slot bytes", "slack"].map(Column::number);
    let columns: Vec<_> = titles.into_iter().chain([Column::text("")]).collect();
    let mut table = Table::new(columns);
    let most = powers.values().map(|(amount, _)| amount.objects).max().unwrap_or(0).max(1);
    for (power, (amount, slack)) in powers {
        let bar = (amount.objects as f64 / most as f64 * BAR as f64).round() as usize;
        table.row([
            bytes(power),
            count(amount.objects),
            share(amount.objects, all),
            bytes(amount.bytes),
            share(slack, amount.bytes),
            "#".repeat(bar),
        ]);
    }
    table.write(out)
}

/// The sizes that most was allocated of.
fn largest(view: &SizesView, page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = view.sizes.clone();
    rows.sort_by_key(|row| std::cmp::Reverse(row.allocated.bytes));
    let titles = ["size", "slot", "allocated", "slot bytes", "slack", "slack bytes"];
    let cells = |row: &SizeRow| {
        let slot = row.allocated.bytes.checked_div(row.allocated.objects).unwrap_or(0);
        vec![
            count(row.size),
            count(slot),
            count(row.allocated.objects),
            bytes(row.allocated.bytes),
            share(row.slack_bytes, row.allocated.bytes),
            bytes(row.slack_bytes),
        ]
    };
    let things = ["other size", "other sizes"];
    page.table("By size", titles.map(Column::number), &rows, things, cells, out)
}
