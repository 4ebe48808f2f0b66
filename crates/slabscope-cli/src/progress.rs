//! A progress bar for large files, on a terminal and nowhere else.

use std::io::{IsTerminal, stderr};

use indicatif::{ProgressBar, ProgressStyle};

/// Smaller files are read before anyone looks, in bytes.
const LARGE: u64 = 16 << 20;

/// Shows how far reading is; gone when dropped.
#[derive(Debug)]
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    /// For a file of so many bytes.
    pub(crate) fn new(bytes: u64) -> Progress {
        if bytes < LARGE || !stderr().is_terminal() {
            return Progress(None);
        }
        let bar = ProgressBar::new(bytes);
        let style = "reading {bar:40} {bytes} of {total_bytes}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style.progress_chars("=> "));
        }
        Progress(Some(bar))
    }

    /// So many bytes are read.
    pub(crate) fn at(&self, bytes: u64) {
        if let Some(bar) = &self.0 {
            bar.set_position(bytes);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
