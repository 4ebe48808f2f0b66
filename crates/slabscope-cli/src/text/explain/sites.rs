//! `slabscope sites` as text.

use std::io::{self, Write};
use std::sync::Arc;

use slabscope_analysis::{By, Frame, SiteFigures, SiteLabel, SitesView};

use super::{Page, SITES, share};
use crate::text::report::heading;
use crate::text::report::heap::dash;
use crate::text::{Column, Table, WIDTH, bytes, count, escape, label, plural, short_time, wrap};

/// Writes all sites.
pub(crate) fn write(view: &SitesView, page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    if !page.head("Sites", out)? {
        return Ok(());
    }
    let columns = [
        Column::name("site"),
        Column::number("allocs"),
        Column::number("bytes"),
        Column::number("most").spare(),
        Column::number("peak"),
        Column::number("left"),
        Column::number("slack").spare(),
        Column::number("half"),
    ];
    let cells = |row: &By<SiteLabel, SiteFigures>| {
        let figures = row.figures;
        vec![
            label::site(&row.label),
            count(figures.allocated.objects),
            bytes(figures.allocated.bytes),
            bytes(figures.max_bytes),
            bytes(figures.at_peak.bytes),
            bytes(figures.live.bytes),
            share(figures.slack_bytes, figures.allocated.bytes),
            figures.lifetime.map_or_else(dash, |lifetime| short_time(lifetime.half_ns)),
        ]
    };
    let title = "What each allocated, had at the peak, left, wasted, and how long half lived";
    page.table(title, columns, &view.sites, SITES, cells, out)?;
    let shown = page.rows.of(view.sites.len());
    let with_stack = view.sites.iter().take(shown).filter(|row| !row.label.stack.is_empty());
    for row in with_stack {
        name(row, out)?;
        stack(&row.label.stack, out)?;
    }
    Ok(())
}

/// Writes a site's whole name above its stack, with what the table may have had no room for.
fn name(row: &By<SiteLabel, SiteFigures>, out: &mut dyn Write) -> io::Result<()> {
    let SiteFigures { allocated, slack_bytes, max_bytes, .. } = row.figures;
    let [allocated, slack, most] = [allocated.bytes, slack_bytes, max_bytes].map(bytes);
    let figures = format!("{allocated} ({slack} slack, {most} at most)");
    let title = escape(&format!("{figures}, {}", label::whole_site(&row.label)));
    let mut lines = wrap(&title, WIDTH - INDENT.len()).into_iter();
    heading(lines.next().unwrap_or_default(), out)?;
    lines.try_for_each(|line| writeln!(out, "{INDENT}{line}"))
}

/// What stands before the second line of a long name.
const INDENT: &str = "    ";

/// How many frames are shown inside of the program's own code, and how many from there on.
const FRAMES: [usize; 2] = [3, 5];

/// Writes the frames around the innermost of the program's own, which are marked.
fn stack(frames: &[Arc<Frame>], out: &mut dyn Write) -> io::Result<()> {
    let own = frames.iter().position(|frame| frame.is_own()).unwrap_or(0);
    let first = own.saturating_sub(FRAMES[0]);
    let mut table = Table::new([Column::text(""), Column::function(""), Column::text("")]);
    for frame in frames.iter().skip(first).take(own - first + FRAMES[1]) {
        let mark = if frame.is_own() { ">" } else { "" };
        table.row([mark.to_owned(), label::function(frame), label::place(frame)]);
    }
    table.write(out)?;
    match frames.len().saturating_sub(own + FRAMES[1]) {
        0 => Ok(()),
        n => writeln!(out, "     and {} outside of these", plural(n as u64, "frame", "frames")),
    }
}
