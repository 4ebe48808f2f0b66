//! `slabscope spans` as text.

use std::io::{self, Write};

use slabscope_analysis::{By, ClassLabel, ClassSpans, Pinned, SiteLabel, SpansView};

use super::{CLASSES, Page, SITES, share};
use crate::text::report::heap::dash;
use crate::text::{Column, bytes, count, label, percent, plural};

/// Writes how full the spans are.
pub(crate) fn write(
    view: &SpansView,
    below: u8,
    page: &Page<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    page.head("Spans at the end", out)?;
    let size = |pages: u64| bytes(pages.saturating_mul(view.page_bytes));
    let pages = plural(view.pages, "page", "pages");
    writeln!(out, "  {} in {pages}", size(view.pages))?;
    let freed = share(view.freed_pages, view.pages);
    writeln!(out, "  {}, {freed}, would be free if objects were moved", size(view.freed_pages))?;
    let titles = ["slot", "spans", "empty", "pages", "in use", "would free"];
    let cells = |row: &By<ClassLabel, ClassSpans>| {
        let figures = row.figures;
        vec![
            label::class(&row.label),
            count(figures.spans),
            count(figures.empty),
            count(figures.pages),
            figures.occupancy().map_or_else(dash, percent),
            size(figures.freed_pages),
        ]
    };
    let titles = titles.map(Column::number);
    page.table("By size class", titles, &view.classes, CLASSES, cells, out)?;
    let titles = ["slot", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"].map(Column::number);
    let cells = |row: &By<ClassLabel, ClassSpans>| {
        let tenths = row.figures.by_tenth.into_iter().map(count);
        [label::class(&row.label)].into_iter().chain(tenths).collect()
    };
    page.table("Spans by tenths in use", titles, &view.classes, CLASSES, cells, out)?;
    pinned(view, below, page, out)
}

fn pinned(view: &SpansView, below: u8, page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let nearly = &view.nearly_empty;
    let spans = plural(nearly.spans, "span", "spans");
    let size = bytes(nearly.pages.saturating_mul(view.page_bytes));
    writeln!(out, "\n{spans} in use to less than {below} %, of {size}")?;
    if nearly.spans == 0 {
        return Ok(());
    }
    let numbers = ["spans", "objects", "bytes", "keeps"].map(Column::number);
    let columns: Vec<_> = [Column::name("site")].into_iter().chain(numbers).collect();
    let cells = |row: &By<SiteLabel, Pinned>| {
        let figures = row.figures;
        vec![
            label::site(&row.label),
            count(figures.spans),
            count(figures.objects),
            bytes(figures.bytes),
            bytes(figures.span_bytes),
        ]
    };
    page.table("What keeps them", columns, &view.pinned, SITES, cells, out)
}
