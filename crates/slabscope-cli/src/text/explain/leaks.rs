//! `slabscope leaks` as text.

use std::io::{self, Write};

use slabscope_analysis::{Ages, By, Leaks, Left, Point};

use super::{Page, SITES, THREADS, share};
use crate::text::report::heading;
use crate::text::{Column, Table, bytes, count, label, plural};

/// Writes what is live at the end.
pub(crate) fn write(view: &Leaks, page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    if !page.head("Live at the end", out)? {
        return Ok(());
    }
    let objects = plural(view.live.objects, "object", "objects");
    writeln!(out, "  {} in {objects}", bytes(view.live.bytes))?;
    let share = |part: u64| share(part, view.live.bytes);
    let (young, old) = (view.ages.young_bytes(), view.ages.old_bytes());
    writeln!(out, "  young: {}, {}, from the last fifth of the time", bytes(young), share(young))?;
    writeln!(out, "  old:   {}, {}, from the first half or before", bytes(old), share(old))?;
    growth(&view.growth, out)?;
    let columns = |first: &'static str| {
        let numbers = ["objects", "bytes", "share", "young", "by tenth"].map(Column::number);
        [Column::name(first)].into_iter().chain(numbers).collect::<Vec<_>>()
    };
    let (sites, threads) = (&view.sites, &view.threads);
    let all = view.live.bytes;
    page.table("By site", columns("site"), sites, SITES, cells(label::site, all), out)?;
    let by_thread = cells(label::thread, all);
    page.table("By thread", columns("allocated by"), threads, THREADS, by_thread, out)
}

fn cells<L>(name: fn(&L) -> String, all: u64) -> impl Fn(&By<L, Left>) -> Vec<String> {
    move |row| {
        let left = row.figures;
        vec![
            name(&row.label),
            count(left.live.objects),
            bytes(left.live.bytes),
            share(left.live.bytes, all),
            share(left.ages.young_bytes(), left.live.bytes),
            tenths(&left.ages),
        ]
    }
}

/// A digit for what was there before, and one for each tenth of the time: how much is left of it,
/// beside the others.
fn tenths(ages: &Ages) -> String {
    let all = ages.tenth_bytes.iter().chain([&ages.before_bytes]);
    let most = all.copied().max().unwrap_or(0).max(1);
    let digit = |&bytes: &u64| match bytes {
        0 => '.',
        bytes => {
            let digit = (u128::from(bytes) * 9).div_ceil(u128::from(most));
            char::from_digit(digit as u32, 10).unwrap_or('9')
        }
    };
    let tenths: String = ages.tenth_bytes.iter().map(digit).collect();
    format!("{}|{tenths}", digit(&ages.before_bytes))
}

/// How many moments of the growth are shown.
const MOMENTS: usize = 10;

/// The widest bar.
const BAR: usize = 40;

fn growth(points: &[Point], out: &mut dyn Write) -> io::Result<()> {
    heading("Growth", out)?;
    let columns = [Column::number("until"), Column::number("live"), Column::text("")];
    let mut table = Table::new(columns);
    let most = points.iter().map(|point| point.live.bytes).max().unwrap_or(0).max(1);
    let shown = (1..=MOMENTS).filter_map(|n| points.get((points.len() * n).div_ceil(MOMENTS) - 1));
    let mut last = None;
    for point in shown.filter(|point| last.replace(point.at_ns) != Some(point.at_ns)) {
        let live = point.live.bytes;
        let bar = (live as f64 / most as f64 * BAR as f64).round() as usize;
        let at = format!("{:+.3} s", point.at_ns as f64 / 1e9);
        table.row([at, bytes(live), "#".repeat(bar)]);
    }
    table.write(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digit_stands_for_each_tenth() {
        let ages = Ages { before_bytes: 9, tenth_bytes: [0, 1, 50, 100, 0, 0, 0, 0, 0, 11] };
        assert_eq!(tenths(&ages), "1|.159.....1");
        assert_eq!(tenths(&Ages::default()), ".|..........");
        let ages = Ages { before_bytes: 0, tenth_bytes: [u64::MAX; 10] };
        assert_eq!(tenths(&ages), ".|9999999999");
    }
}
