//! Where a result goes that may be no text: a file, or standard output.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write, stdout};
use std::path::Path;

use crate::failure::Failure;

/// Lets `write` write to the file, or to standard output.
pub(crate) fn write(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Some(path) = path else {
        let mut out = BufWriter::with_capacity(1 << 16, stdout().lock());
        write(&mut out)?;
        return Ok(out.flush()?);
    };
    let cannot = |error: &std::io::Error| {
        Failure::input(path, format!("{error}. Name a file that you may write to."))
    };
    let file = File::create(path).map_err(|error| cannot(&error))?;
    let mut out = BufWriter::with_capacity(1 << 16, file);
    let written = write(&mut out).and_then(|()| Ok(out.flush()?));
    written.map_err(|failure| match failure {
        Failure::Output(error) => cannot(&error),
        other => other,
    })
}

/// Refuses to write bytes that are no text to a terminal.
pub(crate) fn refuse_terminal(path: Option<&Path>) -> Result<(), Failure> {
    if path.is_none() && stdout().is_terminal() {
        let advice = "this form is no text for a terminal. Name a file with --out.";
        return Err(Failure::Input(advice.to_owned()));
    }
    Ok(())
}
