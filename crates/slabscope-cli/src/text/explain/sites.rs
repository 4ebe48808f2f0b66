//! `slabscope sites` as text.

use std::io::{self, Write};

use slabscope_analysis::{By, SiteFigures, SiteLabel, SitesView};

use super::{Page, SITES};
use crate::text::report::heap::dash;
use crate::text::{Column, bytes, count, label, short_time};

/// Writes all sites.
pub(crate) fn write(view: &SitesView, page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    if !page.head("Sites", out)? {
        return Ok(());
    }
    let numbers = ["allocs", "bytes", "most", "left", "half"].map(Column::number);
    let columns: Vec<_> = [Column::text("site")].into_iter().chain(numbers).collect();
    let cells = |row: &By<SiteLabel, SiteFigures>| {
        let figures = row.figures;
        vec![
            label::site(&row.label),
            count(figures.allocated.objects),
            bytes(figures.allocated.bytes),
            bytes(figures.max_bytes),
            bytes(figures.live.bytes),
            figures.lifetime.map_or_else(dash, |lifetime| short_time(lifetime.half_ns)),
        ]
    };
    let title = "What each allocated, had live at most, left at the end, and how long half lived";
    page.table(title, columns, &view.sites, SITES, cells, out)
}
