//! `slabscope types` as text.

use std::io::{self, Write};

use slabscope_analysis::{Amount, TypeCertainty, TypeRow, TypesView};

use super::{Page, figures, of_figures, share};
use crate::text::Column;

const TYPES: [&str; 2] = ["other type", "other types"];

/// Writes all types.
pub(crate) fn write(view: &TypesView, page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    if !page.head("Types", out)? {
        return Ok(());
    }
    let coverage = view.coverage;
    let part = |what: Amount| {
        let of_bytes = share(what.bytes, coverage.all.bytes);
        let of_objects = share(what.objects, coverage.all.objects);
        format!("{of_bytes} of bytes and {of_objects} of objects")
    };
    writeln!(out, "  {} have a type", part(coverage.typed))?;
    for (amount, what) in [(coverage.likely, "only a likely one"), (coverage.guessed, "a guess")] {
        if amount.objects > 0 {
            writeln!(out, "  {}: {what}", part(amount))?;
        }
    }
    if coverage.typed.objects == 0 {
        writeln!(out, "  Trace with stacks, as in SLABSCOPE=traceallocfree=1,stacks=32.")?;
    }
    let cells =
        |row: &TypeRow| [name(row)].into_iter().chain(of_figures(&row.figures)).collect::<Vec<_>>();
    let title = "What each allocated, had at the peak, left, wasted, and how long half lived";
    page.table(title, figures(Column::name("type")), &view.types, TYPES, cells, out)
}

/// The type, with a mark if it is not sure.
fn name(row: &TypeRow) -> String {
    let Some(name) = &row.name else { return "not known".to_owned() };
    match row.certainty {
        Some(TypeCertainty::Guess) => format!("? {name}"),
        Some(TypeCertainty::Likely) => format!("~ {name}"),
        _ => name.to_string(),
    }
}
