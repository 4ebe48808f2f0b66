//! `slabscope sites --by` as text.

use std::io::{self, Write};

use slabscope_analysis::{By, Figures, GroupLabel, Grouping, GroupsView};

use super::{Page, figures, of_figures};
use crate::text::{Column, label};

/// Writes all groups.
pub(crate) fn write(view: &GroupsView, page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    if !page.head("Sites", out)? {
        return Ok(());
    }
    let (one, things) = match view.by {
        Grouping::Function => ("function", ["other function", "other functions"]),
        Grouping::Line => ("line", ["other line", "other lines"]),
        Grouping::File => ("file", ["other file", "other files"]),
        Grouping::Module => ("module", ["other module", "other modules"]),
        Grouping::Crate => ("crate", ["other crate", "other crates"]),
    };
    let cells = |row: &By<GroupLabel, Figures>| {
        let name = name(&row.label, view.by);
        [name].into_iter().chain(of_figures(&row.figures)).collect()
    };
    let title = "What each allocated, had at the peak, left, wasted, and how long half lived";
    page.table(title, figures(Column::name(one)), &view.groups, things, cells, out)
}

fn name(label: &GroupLabel, by: Grouping) -> String {
    let file = label::file(&label.file);
    match (by, &*label.name, file) {
        (_, "", "") => "not known".to_owned(),
        (Grouping::Line, name, "") => name.to_owned(),
        (Grouping::Line, name, file) => format!("{file}:{} in {name}", label.line),
        (Grouping::File, _, file) => file.to_owned(),
        (_, name, _) => name.to_owned(),
    }
}
