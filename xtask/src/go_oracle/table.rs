//! The result as a table: a row a trace, then a row an event.

use std::fmt::Write;

use anyhow::Result;
use slabscope_wire::event::{self, id};

use super::Agreed;
use super::compare::Counts;
use crate::text::grouped;

/// Rows so far.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: String,
    differences: String,
    failures: usize,
    counts: Counts,
}

impl Table {
    pub(super) fn new() -> Table {
        Table {
            rows: format!(
                "{:<28} {:>12} {:>12} {:>9} {:>6}  result\n",
                "trace", "lines", "alloc/free", "side rows", "s"
            ),
            ..Table::default()
        }
    }

    /// Adds the row of one trace.
    pub(super) fn add(&mut self, name: String, result: Result<Agreed>) {
        // Writing to a string cannot fail.
        let _ = match result {
            Ok(agreed) => {
                for (sum, count) in self.counts.iter_mut().zip(agreed.counts) {
                    *sum += count;
                }
                writeln!(
                    self.rows,
                    "{name:<28} {:>12} {:>12} {:>9} {:>6.1}  equal",
                    grouped(agreed.lines),
                    grouped(agreed.counts.iter().sum()),
                    grouped(agreed.side_rows),
                    agreed.seconds,
                )
            }
            Err(error) => {
                self.failures += 1;
                let _ = writeln!(self.differences, "{name}: {error:#}");
                writeln!(self.rows, "{name:<28} {:>12} {:>12} {:>9} {:>6}  DIFFERS", "", "", "", "")
            }
        };
    }

    /// How many traces differ.
    pub(super) fn failures(&self) -> usize {
        self.failures
    }

    /// The whole table, then what differs.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{}\n{:<20} {:>14}\n", self.rows, "event", "in all traces");
        for (id, count) in (id::SPAN..).zip(self.counts) {
            let name = event::spec(id).map_or("", |spec| spec.name);
            let _ = writeln!(text, "{name:<20} {:>14}", grouped(count));
        }
        text.push_str(&self.differences);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_told_and_counted() {
        let mut table = Table::new();
        let agreed = Agreed { lines: 1234, counts: [1; 9], side_rows: 5, seconds: 0.25 };
        table.add("good".into(), Ok(agreed));
        table.add("bad".into(), Err(anyhow::anyhow!("line 3 differs")));
        let text = table.text();
        assert_eq!(table.failures(), 1);
        assert!(text.contains("DIFFERS") && text.ends_with("bad: line 3 differs\n"), "{text}");
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        let row = text.lines().find(|line| line.starts_with("HeapObjectAlloc ")).unwrap();
        assert_eq!(row.split_whitespace().nth(1), Some("1"));
    }
}
