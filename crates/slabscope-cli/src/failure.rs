//! Messages on standard error: which file, where in it, what is wrong, what to do.

use std::fmt;
use std::io;
use std::path::Path;

use crate::text::escape;

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The file is no trace that can be read; the message says all.
    Input(String),
    /// The result could not be written.
    Output(io::Error),
}

impl From<io::Error> for Failure {
    /// Commands do no I/O of their own but writing.
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

impl Failure {
    /// A failure to read `path`.
    pub(crate) fn input(path: &Path, message: impl fmt::Display) -> Failure {
        Failure::Input(about(path, message))
    }

    /// Tells the user.
    pub(crate) fn say(&self) {
        match self {
            Failure::Input(message) => say(message),
            Failure::Output(error) => {
                say(&format!("standard output: {error}. Send the output to another place."));
            }
        }
    }
}

/// A message about a file.
pub(crate) fn about(path: &Path, message: impl fmt::Display) -> String {
    format!("{}: {message}", escape(&path.to_string_lossy()))
}

/// Writes a message to standard error. If that fails there is nobody to tell.
pub(crate) fn say(message: &str) {
    use io::Write;
    let _ = writeln!(io::stderr(), "slabscope: {message}");
}
