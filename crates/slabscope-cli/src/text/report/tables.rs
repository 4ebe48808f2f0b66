//! The long tables: size classes and threads.

use std::io::{self, Write};

use slabscope_analysis::{ClassRow, Report, ThreadRow};

use super::heap::dash;
use super::{Rows, heading};
use crate::text::{Column, Table, bytes, count, percent, plural};

/// Writes a row for each size class that had objects.
pub(super) fn classes(classes: &[ClassRow], rows: Rows, out: &mut impl Write) -> io::Result<()> {
    heading("Size classes", out)?;
    // Without sizes asked for, as in Go's traces, there is no slack to show. Beside it there is no
    // room for live bytes, which are the slot times the number.
    let has_slack = classes.iter().any(|row| row.requested.objects > 0);
    let mut titles = vec!["allocs", "frees", "live", "bytes"];
    titles.extend(if has_slack { &["slack", "slack %"][..] } else { &["live bytes"] });
    let columns = [Column::number("slot")].into_iter();
    let columns = columns.chain(titles.iter().map(|&title| Column::number(title)));
    let mut table = Table::new(columns.collect::<Vec<_>>());
    let weight = |row: &ClassRow| row.allocated.bytes.saturating_add(row.existed.bytes);
    let shown = largest(classes, rows, weight);
    for row in &shown {
        let mut cells = vec![
            slot(row),
            count(row.allocated.objects),
            count(row.freed.objects),
            count(row.live.objects),
            bytes(row.allocated.bytes),
        ];
        if has_slack {
            let known = row.requested.objects > 0;
            cells.push(if known { bytes(row.requested.slack_bytes) } else { dash() });
            cells.push(row.requested.slack_part().map_or_else(dash, percent));
        } else {
            cells.push(bytes(row.live.bytes));
        }
        table.row(cells);
    }
    table.write(out)?;
    more(classes.len() - shown.len(), "size class", "size classes", out)
}

fn slot(row: &ClassRow) -> String {
    match (row.class, row.slot_bytes) {
        (_, Some(size)) => count(size),
        (Some(_), None) => "large".to_owned(),
        (None, None) => "no slot".to_owned(),
    }
}

/// Writes a row for each thread that allocated or freed.
pub(super) fn threads(report: &Report, rows: Rows, out: &mut impl Write) -> io::Result<()> {
    heading("Threads", out)?;
    let threads = &report.threads;
    let has_names = threads.iter().any(|row| !row.name.is_empty());
    let mut columns = vec![Column::number("thread")];
    if has_names {
        columns.push(Column::text("name"));
    }
    let titles = ["allocs", "bytes", "frees", "of others", "by others"];
    columns.extend(titles.map(Column::number));
    let mut table = Table::new(columns);
    let weight = |row: &ThreadRow| row.allocated.bytes.saturating_add(row.freed.bytes);
    let shown = largest(threads, rows, weight);
    for row in &shown {
        let name = has_names.then(|| row.name.clone());
        let numbers = [
            count(row.allocated.objects),
            bytes(row.allocated.bytes),
            count(row.freed.objects),
            count(row.freed_of_others.objects),
            count(row.freed_by_others.objects),
        ];
        table.row([row.id.to_string()].into_iter().chain(name).chain(numbers));
    }
    table.write(out)?;
    more(threads.len() - shown.len(), "thread", "threads", out)?;
    writeln!(out, "  of others: freed here, allocated by another thread; by others: the reverse")
}

/// The rows of the greatest weight, in the order they had.
fn largest<T>(all: &[T], rows: Rows, weight: impl Fn(&T) -> u64) -> Vec<&T> {
    let mut indices: Vec<usize> = (0..all.len()).collect();
    indices.sort_by_key(|&index| std::cmp::Reverse(all.get(index).map(&weight)));
    indices.truncate(rows.of(all.len()));
    indices.sort_unstable();
    indices.into_iter().filter_map(|index| all.get(index)).collect()
}

fn more(hidden: usize, one: &str, many: &str, out: &mut impl Write) -> io::Result<()> {
    match hidden {
        0 => Ok(()),
        n => writeln!(
            out,
            "  and {} with fewer bytes; --all shows them",
            plural(n as u64, one, many)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slabscope_analysis::{Amount, Requested};

    #[test]
    fn figures_up_to_a_billion_keep_the_width() {
        let amount = Amount { objects: 999_999_999, bytes: 1_000_000_000_000 };
        let row = |class, slot_bytes, requested| ClassRow {
            class,
            slot_bytes,
            existed: amount,
            allocated: amount,
            requested,
            freed: amount,
            live: Amount { objects: 123_456_789, ..amount },
        };
        let known = Requested { objects: 1, bytes: 1, slack_bytes: 1_000_000_000_000 };
        for requested in [Requested::default(), known] {
            let rows = [row(Some(67), Some(32_768), requested), row(None, None, requested)];
            let mut out = Vec::new();
            classes(&rows, Rows::All, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            assert!(text.contains("999,999,999") && text.contains("no slot"), "{text}");
            assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        }
    }

    #[test]
    fn the_largest_keep_their_order() {
        let all: Vec<u64> = (0..30).map(|n| n * 7 % 30).collect();
        let shown = largest(&all, Rows::Largest, |&n| n);
        assert_eq!(shown.len(), 20);
        assert!(shown.iter().all(|&&n| n >= 10));
        assert!(shown.windows(2).all(|pair| {
            let place = |n| all.iter().position(|&other| other == n);
            place(*pair[0]) < place(*pair[1])
        }));
        assert_eq!(largest(&all, Rows::All, |&n| n).len(), 30);
        assert_eq!(largest(&all[..22], Rows::Largest, |&n| n).len(), 22);
    }
}
