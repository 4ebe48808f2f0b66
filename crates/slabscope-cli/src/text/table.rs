//! Tables of at most 80 columns: texts to the left, numbers to the right.

use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::escape;

/// The widest line, in columns of the terminal.
const WIDTH: usize = 80;

/// What stands before each line, and between two columns.
const INDENT: &str = "  ";

/// One column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    title: &'static str,
    is_number: bool,
}

impl Column {
    /// Of texts, which may be cut to fit.
    pub(crate) const fn text(title: &'static str) -> Column {
        Column { title, is_number: false }
    }

    /// Of numbers, aligned to the right.
    pub(crate) const fn number(title: &'static str) -> Column {
        Column { title, is_number: true }
    }
}

/// Rows under titles.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(columns: impl Into<Vec<Column>>) -> Table {
        Table { columns: columns.into(), rows: Vec::new() }
    }

    /// Adds a row, which has a cell for each column or fewer.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| escape(&cell)).collect());
    }

    /// Writes titles and rows.
    pub(crate) fn write(&self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        let widths = self.widths();
        if self.columns.iter().any(|column| !column.title.is_empty()) {
            let titles = self.columns.iter().map(|column| column.title);
            self.line(titles, &widths, out)?;
        }
        for row in &self.rows {
            self.line(row.iter().map(String::as_str), &widths, out)?;
        }
        Ok(())
    }

    /// As wide as the widest cell; text columns give way, the last first, where a line is too long.
    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<_> = self.columns.iter().map(|column| column.title.width()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        let gaps = INDENT.len() * widths.len();
        let mut over = (widths.iter().sum::<usize>() + gaps).saturating_sub(WIDTH);
        for (width, column) in widths.iter_mut().zip(&self.columns).rev() {
            if !column.is_number {
                let least = column.title.width().max(8).min(*width);
                let given = over.min(*width - least);
                *width -= given;
                over -= given;
            }
        }
        widths
    }

    fn line<'a>(
        &self,
        cells: impl Iterator<Item = &'a str>,
        widths: &[usize],
        out: &mut (impl Write + ?Sized),
    ) -> io::Result<()> {
        let mut line = String::new();
        for ((cell, column), &width) in cells.zip(&self.columns).zip(widths) {
            line.push_str(INDENT);
            let cell = cut(cell, width);
            let padding = " ".repeat(width.saturating_sub(cell.width()));
            let (before, after) =
                if column.is_number { (padding.as_str(), "") } else { ("", padding.as_str()) };
            line.extend([before, &cell, after]);
        }
        writeln!(out, "{}", line.trim_end())
    }
}

/// The text, or as much of it as fits with `..` after it.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut room = width.saturating_sub(2);
    let mut kept = String::new();
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if wide > room {
            break;
        }
        room -= wide;
        kept.push(c);
    }
    kept.push_str("..");
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(table: &Table) -> String {
        let mut out = Vec::new();
        table.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_stand_to_the_right_and_nothing_trails() {
        let mut table = Table::new([Column::text("name"), Column::number("n")]);
        table.row(["a".to_owned(), "1".to_owned()]);
        table.row(["bcdef".to_owned(), "1,000".to_owned()]);
        table.row(["gh".to_owned()]);
        assert_eq!(written(&table), "  name       n\n  a          1\n  bcdef  1,000\n  gh\n");
    }

    #[test]
    fn long_and_hostile_texts_keep_the_width() {
        let mut table = Table::new([Column::text("name"), Column::number("n")]);
        table.row(["\u{1b}[2J".repeat(40), "1".to_owned()]);
        table.row(["\u{6f22}".repeat(60), "22".to_owned()]);
        let text = written(&table);
        assert!(!text.contains('\u{1b}'));
        assert_eq!(text.lines().count(), 3);
        for line in text.lines() {
            assert!(line.width() <= 80, "{line}");
        }
        assert!(text.lines().skip(1).all(|line| line.contains("..")));
    }
}
