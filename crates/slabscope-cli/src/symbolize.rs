//! `slabscope symbolize`: the trace with its names in it.

use slabscope_analysis::SymbolizeError;

use crate::args::SymbolizeArgs;
use crate::exit_code::Outcome;
use crate::failure::Failure;
use crate::{open, output, symbols};

pub(crate) fn run(args: &SymbolizeArgs) -> Result<Outcome, Failure> {
    output::refuse_terminal(args.out.as_deref())?;
    let bytes = open::whole(&args.file)?;
    let mut findings = Vec::new();
    output::write(args.out.as_deref(), |out| {
        let found = slabscope_analysis::symbolize(&bytes, args.symbols.options(), out);
        findings = found.map_err(|error| match error {
            SymbolizeError::Output(error) => Failure::Output(error),
            error => Failure::input(&args.file, format!("{error}. Name a trace of slabscope.")),
        })?;
        Ok(())
    })?;
    symbols::say_missing(&findings);
    Ok(Outcome::Fine)
}
