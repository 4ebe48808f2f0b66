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
    write_to(path, write).map_err(|failure| match failure {
        Failure::Output(error) => cannot(&error),
        other => other,
    })
}

/// Devices and pipes are written as they are. A file appears whole or not at all: it may be the very one
/// that is read.
fn write_to(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let there = path.metadata();
    if there.as_ref().is_ok_and(|metadata| !metadata.is_file()) {
        let mut out = BufWriter::with_capacity(1 << 16, File::create(path)?);
        write(&mut out)?;
        return Ok(out.flush()?);
    }
    // A link stays one.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    let file = match there {
        Ok(metadata) => {
            // Whoever may not write to the file may not replace it either.
            File::options().write(true).open(&path)?;
            let file = tempfile::NamedTempFile::new_in(directory)?;
            file.as_file().set_permissions(metadata.permissions())?;
            file
        }
        Err(_) => new_file(directory)?,
    };
    let mut out = BufWriter::with_capacity(1 << 16, file);
    write(&mut out)?;
    let file = out.into_inner().map_err(|error| Failure::Output(error.into_error()))?;
    file.persist(&path).map_err(|error| Failure::Output(error.error))?;
    Ok(())
}

/// A new file, with the rights that files of this user get.
fn new_file(directory: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(directory)
}

/// Refuses to write bytes that are no text to a terminal.
pub(crate) fn refuse_terminal(path: Option<&Path>) -> Result<(), Failure> {
    if path.is_none() && stdout().is_terminal() {
        let advice = "this form is no text for a terminal. Name a file with --out.";
        return Err(Failure::Input(advice.to_owned()));
    }
    Ok(())
}
