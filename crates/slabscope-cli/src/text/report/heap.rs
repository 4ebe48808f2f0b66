//! Events, objects, spans and stacks: the figures of the whole heap.

use std::io::{self, Write};

use slabscope_analysis::{Events, Extent, Moment, Report, Spans, StackAmount, Stacks};

use super::heading;
use crate::text::{Column, Table, bytes, count, moment, percent, plural, wall};

const NUMBER: fn(&'static str) -> Column = Column::number;

/// Writes how many events of each kind there are, things by what happened to them.
pub(super) fn events(events: &Events, out: &mut impl Write) -> io::Result<()> {
    heading("Events", out)?;
    let mut table =
        Table::new([Column::text(""), NUMBER("exists"), NUMBER("alloc"), NUMBER("free")]);
    for kinds in events.heap.chunks(3) {
        let name = kinds.first().map(|row| row.event.to_owned());
        table.row(name.into_iter().chain(kinds.iter().map(|row| count(row.count))));
    }
    table.write(out)?;
    writeln!(out, "  and {}", plural(events.other, "other event", "other events"))
}

/// Writes what was allocated and freed.
pub(super) fn objects(report: &Report, out: &mut impl Write) -> io::Result<()> {
    heading("Objects", out)?;
    let objects = &report.objects;
    let mut table = Table::new([Column::text(""), NUMBER("objects"), NUMBER("slot bytes")]);
    let mut row = |title: &str, n: u64, size: u64| {
        table.row([title.to_owned(), count(n), bytes(size)]);
    };
    row("existed at the start", objects.existed.objects, objects.existed.bytes);
    row("allocated", objects.allocated.objects, objects.allocated.bytes);
    row("freed", objects.freed.objects, objects.freed.bytes);
    if objects.vanished.objects > 0 {
        row("gone without a free", objects.vanished.objects, objects.vanished.bytes);
    }
    row("live at the end", objects.live.objects, objects.live.bytes);
    row("live at the peak", objects.peak.objects, objects.peak.bytes);
    table.write(out)?;
    writeln!(out, "  The peak was at {}.", when(&objects.peak.at))?;
    if let Some(slack) = objects.requested.slack_part() {
        let asked = bytes(objects.requested.bytes);
        let slack_bytes = bytes(objects.requested.slack_bytes);
        writeln!(
            out,
            "  Asked for: {asked}; slack in the slots: {slack_bytes}, {}.",
            percent(slack)
        )?;
    }
    if objects.sharing > 0 {
        let sharing = plural(objects.sharing, "tiny object", "tiny objects");
        writeln!(out, "  {sharing} more shared slots of others, as Go packs them.")?;
    }
    Ok(())
}

/// Writes how spans and their pages came and went, and what they hold at the end.
pub(super) fn spans(spans: &Spans, out: &mut impl Write) -> io::Result<()> {
    heading("Spans", out)?;
    let mut table =
        Table::new([Column::text(""), NUMBER("spans"), NUMBER("pages"), NUMBER("bytes")]);
    let mut row = |title: &str, extent: Extent| {
        let size = bytes(extent.pages.saturating_mul(spans.page_bytes));
        table.row([title.to_owned(), count(extent.spans), count(extent.pages), size]);
    };
    row("existed at the start", spans.existed);
    row("allocated", spans.allocated);
    row("freed", spans.freed);
    if spans.vanished.spans > 0 {
        row("gone without a free", spans.vanished);
    }
    row("left at the end", spans.live);
    row("at the peak", spans.peak);
    table.write(out)?;
    writeln!(out, "  The peak was at {}.", when(&spans.peak_at))?;
    if spans.kinds.is_empty() {
        return Ok(());
    }
    heading("Spans at the end", out)?;
    let titles = ["spans", "empty", "pages", "bytes", "in use", "occupied"];
    let columns = [Column::text("kind")].into_iter().chain(titles.map(NUMBER));
    let mut table = Table::new(columns.collect::<Vec<_>>());
    for row in &spans.kinds {
        table.row([
            kind(row.kind).to_owned(),
            count(row.extent.spans),
            row.empty_spans.map_or_else(dash, count),
            count(row.extent.pages),
            bytes(row.bytes),
            row.live_bytes.map_or_else(dash, bytes),
            row.occupancy().map_or_else(dash, percent),
        ]);
    }
    table.write(out)
}

/// Writes how stacks came and went.
pub(super) fn stacks(stacks: &Stacks, out: &mut impl Write) -> io::Result<()> {
    if stacks.peak == StackAmount::default() {
        return Ok(());
    }
    heading("Stacks", out)?;
    let mut table = Table::new([Column::text(""), NUMBER("stacks"), NUMBER("bytes")]);
    let mut row = |title: &str, amount: StackAmount| {
        table.row([title.to_owned(), count(amount.stacks), bytes(amount.bytes)]);
    };
    row("existed at the start", stacks.existed);
    row("allocated", stacks.allocated);
    row("freed", stacks.freed);
    row("left at the end", stacks.live);
    row("at the peak", stacks.peak);
    table.write(out)?;
    writeln!(out, "  The peak was at {}.", when(&stacks.peak_at))
}

/// What stands where the trace does not tell.
pub(crate) fn dash() -> String {
    "-".to_owned()
}

pub(crate) fn when(at: &Moment) -> String {
    match wall(at) {
        Some(wall) => format!("{} ({wall})", moment(at)),
        None => moment(at),
    }
}

fn kind(kind: &str) -> &str {
    match kind {
        "small" => "small objects",
        "large" => "large objects",
        "other" => "stacks, others",
        _ => "unknown class",
    }
}
