//! `slabscope symbolize`: the trace with its names in it.

use std::io::stdout;

use serde::Serialize;
use slabscope_analysis::{Account, SymbolizeError, Symbolized};
use slabscope_symbols::{Finding, Source};

use crate::args::SymbolizeArgs;
use crate::exit_code::Outcome;
use crate::failure::Failure;
use crate::{json, open, output, symbols};

pub(crate) fn run(args: &SymbolizeArgs) -> Result<Outcome, Failure> {
    output::refuse_terminal(args.out.as_deref())?;
    let trace = open::stream(&args.file)?;
    let mut done = Symbolized::default();
    output::write(args.out.as_deref(), |out| {
        let made = slabscope_analysis::symbolize(trace.read, args.symbols.options(), out);
        done = made.map_err(|error| match error {
            SymbolizeError::Output(error) => Failure::Output(error),
            SymbolizeError::Input(error) => {
                Failure::input(&args.file, format!("{error}. Check its disk, then try again."))
            }
            error => Failure::input(&args.file, format!("{error}. Name a trace of slabscope.")),
        })?;
        Ok(())
    })?;
    if args.json {
        // It looks at no events.
        let answer = Answer { symbolize: Summary::of(&done) };
        json::write(&args.file, &Account::NOT_READ, &answer, &mut stdout().lock())?;
    }
    symbols::say_missing(&done.modules);
    Ok(Outcome::Fine)
}

#[derive(Serialize)]
struct Answer<'a> {
    symbolize: Summary<'a>,
}

/// What was done.
#[derive(Serialize)]
struct Summary<'a> {
    generations: u64,
    /// Those of each generation counted.
    stacks: u64,
    modules: Vec<Module<'a>>,
}

/// What is known of one of the program's files.
#[derive(Serialize)]
struct Module<'a> {
    path: std::borrow::Cow<'a, str>,
    names: &'static str,
    /// The file that they are from.
    file: Option<std::borrow::Cow<'a, str>>,
    /// Why the module's own file was not taken.
    refused: Option<&'a str>,
}

impl Summary<'_> {
    fn of(done: &Symbolized) -> Summary<'_> {
        fn module(finding: &Finding) -> Module<'_> {
            Module {
                path: finding.path.to_string_lossy(),
                names: match finding.source {
                    Source::Nothing => "none",
                    Source::Symbols => "symbols",
                    Source::DebugInformation => "debug_information",
                },
                file: finding.file.as_ref().map(|file| file.to_string_lossy()),
                refused: finding.refused.as_deref(),
            }
        }
        Summary {
            generations: done.generations,
            stacks: done.stacks,
            modules: done.modules.iter().map(module).collect(),
        }
    }
}
