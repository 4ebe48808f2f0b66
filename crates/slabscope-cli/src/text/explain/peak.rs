//! `slabscope peak` as text.

use std::io::{self, Write};

use slabscope_analysis::{By, LiveAtPeak, PeakView};

use super::{CLASSES, Page, SITES, THREADS, share};
use crate::text::report::heap::when;
use crate::text::{Column, bytes, count, label, plural};

/// Writes what was live at the peak.
pub(crate) fn write(view: &PeakView, page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    if !page.head("Peak", out)? {
        return Ok(());
    }
    let peak = view.peak;
    let objects = plural(peak.objects, "object", "objects");
    writeln!(out, "  {} in {objects}, at {}", bytes(peak.bytes), when(&peak.at))?;
    writeln!(out, "  {} were left at the end", bytes(view.live_at_end.bytes))?;
    let columns = |first: Column| {
        let numbers = ["objects", "bytes", "share"].map(Column::number);
        [first].into_iter().chain(numbers).collect::<Vec<_>>()
    };
    fn cells<L>(name: fn(&L) -> String, all: u64) -> impl Fn(&By<L, LiveAtPeak>) -> Vec<String> {
        move |row| {
            let live = row.figures.live;
            let share = share(live.bytes, all);
            vec![name(&row.label), count(live.objects), bytes(live.bytes), share]
        }
    }
    let all = peak.bytes;
    let first = Column::number("slot");
    let by_class = cells(label::class, all);
    page.table("By size class", columns(first), &view.classes, CLASSES, by_class, out)?;
    let by_site = cells(label::site, all);
    page.table("By site", columns(Column::name("site")), &view.sites, SITES, by_site, out)?;
    let by_thread = cells(label::thread, all);
    let first = Column::text("allocated by");
    page.table("By thread", columns(first), &view.threads, THREADS, by_thread, out)
}
