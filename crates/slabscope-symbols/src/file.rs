//! Files that are read whole.

use std::fs;
use std::io;
use std::path::Path;

/// Files above this are not read: nothing that runs is so large, in bytes.
const LEN_MAX: u64 = 8 << 30;

/// The bytes of a file.
///
/// # Errors
/// When it cannot be read, or is no plain file: a path from a trace may lead to a device or a pipe.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() || metadata.len() > LEN_MAX {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    fs::read(path)
}
