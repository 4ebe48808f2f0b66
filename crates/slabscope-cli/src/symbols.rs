//! Where names are looked for, and saying which could not be found.

use std::path::PathBuf;

use clap::Args;
use slabscope_symbols::{Finding, Options, Source};

use crate::failure;
use crate::text::escape;

/// Where to look for functions and lines.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Names of functions")]
pub(crate) struct SymbolArgs {
    /// Look for programs, libraries and debug information here first
    ///
    /// A directory with the files themselves, or with .build-id/xx/yyyy.debug
    /// in it, as in /usr/lib/debug. May be given several times.
    #[arg(long, value_name = "DIR", verbatim_doc_comment)]
    debug_dir: Vec<PathBuf>,
}

impl SymbolArgs {
    /// The same for the symbolizer.
    pub(crate) fn options(&self) -> Options {
        Options { directories: self.debug_dir.clone() }
    }
}

/// Says which of the program's files could not be read: their functions are numbers only.
pub(crate) fn say_missing(findings: &[Finding]) {
    for finding in findings {
        let (Source::Nothing, Some(why)) = (finding.source, &finding.refused) else { continue };
        let message = format!(
            "names of {} are missing: {}. Give the directory of its debug information with \
             --debug-dir.",
            escape(&finding.path.to_string_lossy()),
            escape(why),
        );
        failure::say(&message);
    }
}
