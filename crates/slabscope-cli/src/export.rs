//! `slabscope export`: the trace in a form that other programs read.
//!
//! A form is a module with an [`Export`], and a line in [`FORMS`].

pub(crate) mod collapsed;
mod firefox;
mod jsonl;
mod pprof;

use std::borrow::Cow;
use std::io::{Write, stdout};
use std::path::Path;

use clap::builder::PossibleValuesParser;
use serde::Serialize;
use slabscope_analysis::{Account, Profile, ProfileOptions};

use crate::args::{ExportArgs, Weight};
use crate::exit_code::Outcome;
use crate::explain;
use crate::failure::Failure;
use crate::window::WindowArgs;
use crate::{json, output};

/// A form.
trait Export: Sync {
    /// What it is called on the command line.
    fn name(&self) -> &'static str;

    /// Whether what it writes is no text.
    fn is_binary(&self) -> bool {
        false
    }

    /// Writes the trace in this form.
    fn write(&self, source: &Source<'_>, out: &mut dyn Write) -> Result<Made, Failure>;
}

const FORMS: [&dyn Export; 4] =
    [&collapsed::Collapsed, &firefox::Firefox, &jsonl::JsonLines, &pprof::Pprof];

/// The names of all forms.
pub(crate) fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(FORMS.map(|form| form.name()))
}

/// How writing ended, and whether the trace is all there.
type Made = (Outcome, Account);

/// What is to be written.
struct Source<'a> {
    path: &'a Path,
    options: ProfileOptions,
    window: WindowArgs,
    weight: Weight,
}

impl Source<'_> {
    /// The profile of the trace, and what making it came to.
    fn profile(&self) -> Result<(Profile, Made), Failure> {
        let profile = explain::make(self.path, &self.options, self.window)?;
        let outcome = explain::say_trouble(self.path, &profile);
        let account = profile.account();
        Ok((profile, (outcome, account)))
    }
}

pub(crate) fn run(args: &ExportArgs) -> Result<Outcome, Failure> {
    let form = FORMS.into_iter().find(|form| form.name() == args.format);
    let form = form.ok_or_else(|| Failure::Input(format!("no form is called {}", args.format)))?;
    if form.is_binary() {
        output::refuse_terminal(args.out.as_deref())?;
    }
    let options = explain::options(args.window, &args.symbols)?;
    let source = Source { path: &args.file, options, window: args.window, weight: args.weight };
    let (mut outcome, mut account) = (Outcome::Fine, Account::NOT_READ);
    output::write(args.out.as_deref(), |out| {
        (outcome, account) = form.write(&source, out)?;
        Ok(())
    })?;
    if let (true, Some(path)) = (args.json, &args.out) {
        let bytes = path.metadata().map_or(0, |metadata| metadata.len());
        let answer = Written { format: form.name(), out: path.to_string_lossy(), bytes };
        json::write(&args.file, &account, &Answer { export: answer }, &mut stdout().lock())?;
    }
    Ok(outcome)
}

#[derive(Serialize)]
struct Answer<'a> {
    export: Written<'a>,
}

/// What was written.
#[derive(Serialize)]
struct Written<'a> {
    format: &'a str,
    out: Cow<'a, str>,
    /// How long the file is; 0 for what is no file.
    bytes: u64,
}
