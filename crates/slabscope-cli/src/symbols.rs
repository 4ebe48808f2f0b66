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
    /// Look all names up anew, and keep none
    ///
    /// Names once found are kept by build id in $XDG_CACHE_HOME/slabscope,
    /// or in ~/.cache/slabscope.
    #[arg(long, verbatim_doc_comment)]
    no_cache: bool,
}

impl SymbolArgs {
    /// The same for the symbolizer.
    pub(crate) fn options(&self) -> Options {
        let cache = if self.no_cache { None } else { cache() };
        Options { directories: self.debug_dir.clone(), cache }
    }
}

/// Where names are kept; `None` for a user without a home.
fn cache() -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let caches = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    Some(caches?.join("slabscope"))
}

/// Says which of the program's files could not be read: their functions are numbers only.
pub(crate) fn say_missing(findings: &[Finding]) {
    for finding in findings {
        let what = match finding.source {
            Source::Nothing => "names",
            _ if finding.is_partial => "some names",
            _ => continue,
        };
        let Some(why) = &finding.refused else { continue };
        let message = format!(
            "{what} of {} are missing: {}. Give the directory of its debug information with \
             --debug-dir.",
            escape(&finding.path.to_string_lossy()),
            escape(why),
        );
        failure::say(&message);
    }
}
