//! Tables of at most 80 columns: texts to the left, numbers to the right.
//!
//! Names of functions and types are shortened where there is too little room. Where that leaves out more
//! than modules, or two names look the same, each stands below its row in full.

use std::collections::HashMap;
use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::shorten::{self, Short};
use super::{escape, wrap};

/// The widest line, in columns of the terminal.
pub(crate) const WIDTH: usize = 80;

/// What stands before each line, and between two columns.
const INDENT: &str = "  ";

/// How little of a name there may be.
const NAME_MIN: usize = 20;

/// How little of another text.
const TEXT_MIN: usize = 8;

/// One column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    title: &'static str,
    kind: Kind,
    /// Whether it is left out where names would have too little room.
    is_spare: bool,
}

/// What stands in a column, and what becomes of it where there is too little room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It is cut at its end.
    Text,
    /// It is shortened so that it still tells what it is, and stands below in full if it does not.
    Name,
    /// It is shortened, and beside it stands where it is.
    Function,
    /// It has its room.
    Number,
}

impl Column {
    /// Of texts, which may be cut to fit.
    pub(crate) const fn text(title: &'static str) -> Column {
        Column::of(title, Kind::Text)
    }

    /// Of names of functions and types, which may be shortened to fit.
    pub(crate) const fn name(title: &'static str) -> Column {
        Column::of(title, Kind::Name)
    }

    /// Of functions with their places beside them.
    pub(crate) const fn function(title: &'static str) -> Column {
        Column::of(title, Kind::Function)
    }

    /// Of numbers, aligned to the right.
    pub(crate) const fn number(title: &'static str) -> Column {
        Column::of(title, Kind::Number)
    }

    /// The column, which is left out where names would have too little room beside it.
    pub(crate) const fn spare(self) -> Column {
        Column { is_spare: true, ..self }
    }

    const fn of(title: &'static str, kind: Kind) -> Column {
        Column { title, kind, is_spare: false }
    }

    /// How little of it there may be while spare columns stand beside it.
    fn least(self, width: usize) -> usize {
        if self.kind == Kind::Number { width } else { width.min(NAME_MIN) }
    }

    /// A cell in so many columns of the terminal.
    fn fit(self, cell: &str, width: usize) -> Short {
        match self.kind {
            Kind::Name => shorten::name(cell, width),
            Kind::Function => Short { is_vague: false, ..shorten::name(cell, width) },
            Kind::Text | Kind::Number => Short { text: cut(cell, width), is_vague: false },
        }
    }
}

/// What gives way where a line is too long, one after the other, and how much of it is kept.
const GIVING_WAY: [(Kind, usize); 5] = [
    (Kind::Name, NAME_MIN),
    (Kind::Function, NAME_MIN),
    (Kind::Text, TEXT_MIN),
    (Kind::Name, TEXT_MIN),
    (Kind::Function, TEXT_MIN),
];

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

    /// Writes titles and rows, without the spare columns that there is no room for.
    pub(crate) fn write(mut self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        while let Some(spare) = self.columns.iter().position(|column| column.is_spare) {
            if self.has_room() {
                break;
            }
            self.columns.remove(spare);
            for row in self.rows.iter_mut().filter(|row| row.len() > spare) {
                row.remove(spare);
            }
        }
        self.lines(out)
    }

    /// Whether names have enough room beside all columns.
    fn has_room(&self) -> bool {
        let widths = self.natural_widths();
        let least = self.columns.iter().zip(widths).map(|(column, width)| column.least(width));
        least.map(|width| INDENT.len() + width).sum::<usize>() <= WIDTH
    }

    fn lines(&self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        let widths = self.widths();
        if self.columns.iter().any(|column| !column.title.is_empty()) {
            self.line(self.columns.iter().map(|column| column.title.to_owned()), &widths, out)?;
        }
        let rows: Vec<Vec<Short>> = self.rows.iter().map(|row| self.fit(row, &widths)).collect();
        let meant = self.meant(&rows);
        for (row, whole) in rows.iter().zip(&self.rows) {
            self.line(row.iter().map(|cell| cell.text.clone()), &widths, out)?;
            let names = row.iter().zip(whole).zip(&self.columns);
            for ((short, name), _) in names.filter(|(_, column)| column.kind == Kind::Name) {
                if short.is_vague || meant.get(&*short.text).is_some_and(Option::is_none) {
                    for line in wrap(name, WIDTH - 2 * INDENT.len()) {
                        writeln!(out, "{INDENT}{INDENT}{line}")?;
                    }
                }
            }
        }
        Ok(())
    }

    fn fit(&self, row: &[String], widths: &[usize]) -> Vec<Short> {
        let cells = row.iter().zip(&self.columns).zip(widths);
        cells.map(|((cell, column), &width)| column.fit(cell, width)).collect()
    }

    /// For each shortened name the one that it stands for; `None` where it is not one only.
    fn meant<'a>(&'a self, rows: &'a [Vec<Short>]) -> HashMap<&'a str, Option<&'a str>> {
        let mut meant = HashMap::new();
        for (short, whole) in rows.iter().flatten().zip(self.rows.iter().flatten()) {
            let known = meant.entry(&*short.text).or_insert(Some(whole.as_str()));
            if *known != Some(whole) {
                *known = None;
            }
        }
        meant
    }

    /// As wide as the widest cell.
    fn natural_widths(&self) -> Vec<usize> {
        let mut widths: Vec<_> = self.columns.iter().map(|column| column.title.width()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        widths
    }

    /// As wide as the widest cell; where a line is too long, names give way and then texts, the last first.
    fn widths(&self) -> Vec<usize> {
        let mut widths = self.natural_widths();
        let gaps = INDENT.len() * widths.len();
        let mut over = (widths.iter().sum::<usize>() + gaps).saturating_sub(WIDTH);
        for (kind, least) in GIVING_WAY {
            let all = widths.iter_mut().zip(&self.columns).rev();
            for (width, column) in all.filter(|(_, column)| column.kind == kind) {
                let least = column.title.width().max(least).min(*width);
                let given = over.min(*width - least);
                *width -= given;
                over -= given;
            }
        }
        widths
    }

    fn line(
        &self,
        cells: impl Iterator<Item = String>,
        widths: &[usize],
        out: &mut (impl Write + ?Sized),
    ) -> io::Result<()> {
        let mut line = String::new();
        for ((cell, column), &width) in cells.zip(&self.columns).zip(widths) {
            line.push_str(INDENT);
            let padding = " ".repeat(width.saturating_sub(cell.width()));
            let is_number = column.kind == Kind::Number;
            let (before, after) =
                if is_number { (padding.as_str(), "") } else { ("", padding.as_str()) };
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

    fn written(table: Table) -> String {
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
        assert_eq!(written(table), "  name       n\n  a          1\n  bcdef  1,000\n  gh\n");
    }

    #[test]
    fn spare_columns_go_one_by_one_until_names_have_room() {
        let titles = |name: usize, number: usize| {
            let spare = |title| Column::number(title).spare();
            let (a, b) = (spare("first"), spare("second"));
            let mut table = Table::new([Column::name("site"), a, Column::number("n"), b]);
            let cells = ["1", "2", "3"].map(|digit| digit.repeat(number));
            table.row([format!("{:1$}", "f", name)].into_iter().chain(cells));
            let text = written(table);
            assert!(text.lines().all(|line| line.width() <= 80), "{text}");
            let titles = text.lines().next().unwrap().split_whitespace().count();
            assert_eq!(text.contains(&"3".repeat(number)), titles > 2, "{text}");
            titles
        };
        // 20 columns of a name are enough, and less is where it is no longer.
        assert_eq!([(20, 17), (60, 17), (60, 18)].map(|(name, n)| titles(name, n)), [4, 4, 3]);
        assert_eq!([(18, 18), (19, 18), (18, 27)].map(|(name, n)| titles(name, n)), [4, 3, 3]);
        assert_eq!([(18, 28), (60, 28)].map(|(name, n)| titles(name, n)), [3, 2]);
    }

    #[test]
    fn names_that_would_look_the_same_stand_in_full() {
        let mut table = Table::new([Column::name("site"), Column::text(""), Column::number("n")]);
        let name =
            |krate: &str| format!("{krate}::{}::insert<{}>", "part".repeat(12), "u8, ".repeat(9));
        let names = ["one", "other"].map(name);
        for name in &names {
            table.row([name.clone(), "x".repeat(20), "1".to_owned()]);
        }
        table.row(["app::parse".to_owned(), "y".to_owned(), "2".to_owned()]);
        let text = written(table);
        assert!(text.lines().all(|line| line.width() <= 80), "{text}");
        let joined: String = text.lines().map(str::trim).collect();
        for name in names {
            assert!(joined.replace(' ', "").contains(&name.replace(' ', "")), "{text}");
        }
        assert_eq!(text.matches("app::parse").count(), 1, "{text}");
        assert_eq!(text.matches("xxxxxxxxxxxxxxxxxxxx").count(), 2, "names give way first: {text}");
    }

    #[test]
    fn long_and_hostile_texts_keep_the_width() {
        let mut table = Table::new([Column::text("name"), Column::number("n")]);
        table.row(["\u{1b}[2J".repeat(40), "1".to_owned()]);
        table.row(["\u{6f22}".repeat(60), "22".to_owned()]);
        let text = written(table);
        assert!(!text.contains('\u{1b}'));
        assert_eq!(text.lines().count(), 3);
        for line in text.lines() {
            assert!(line.width() <= 80, "{line}");
        }
        assert!(text.lines().skip(1).all(|line| line.contains("..")));
    }
}
