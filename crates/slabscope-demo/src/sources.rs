//! Finding the Rust sources below a directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Appends every `.rs` file below `directory`, build output and hidden directories left out.
pub(crate) fn find(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let name = entry.file_name();
        if kind.is_dir() {
            if name != "target" && !name.as_encoded_bytes().starts_with(b".") {
                find(&path, files)?;
            }
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}
