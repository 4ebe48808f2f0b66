//! What the program understands on its command line, and its help.

#[cfg(test)]
mod complete;
mod explain;
mod explain_help;

pub(crate) use explain::{
    CompletionsArgs, DiffArgs, Explain, ExportArgs, FlamegraphArgs, ManArgs, OutputArgs, SitesArgs,
    SpansArgs, TemporaryArgs, TraceArgs, Weight,
};

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand};

use crate::symbols::SymbolArgs;
use crate::window::WindowArgs;

/// Explains traces of every allocation a program made.
#[derive(Debug, Parser)]
#[command(name = "slabscope", version, after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  Trace a program that uses slabscope as its allocator, and read the result:
    SLABSCOPE=traceallocfree=1 ./app
    slabscope report app.1234.trace

  In a script, fail when a trace is incomplete or contradicts itself:
    slabscope verify app.1234.trace

  The same text as 'go tool trace -d=parsed', for the nine heap events only:
    slabscope dump app.1234.trace | grep Experimental

Traces of Go programs (GODEBUG=traceallocfree=1, Go 1.23 and later) can be read
as well.

Exit codes:
  0  all is well
  1  a finding: 'verify' found something wrong, or the trace could not be read
     to its end
  2  it could not be done: no such file, not a trace, wrong usage";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// What was allocated and freed, by event, size, thread and span
    #[command(after_help = REPORT_HELP)]
    Report(ReportArgs),
    #[command(flatten)]
    Explain(Explain),
    /// All events as text, as 'go tool trace -d=parsed' prints them
    #[command(after_help = DUMP_HELP)]
    Dump(DumpArgs),
    /// Whether the trace is complete and free of contradictions
    #[command(after_help = VERIFY_HELP)]
    Verify(VerifyArgs),
    /// The trace with its names in it, for other machines
    #[command(after_help = SYMBOLIZE_HELP)]
    Symbolize(SymbolizeArgs),
    /// Makes the trace of a killed program whole, for good
    #[command(after_help = RECOVER_HELP)]
    Recover(RecoverArgs),
}

const REPORT_HELP: &str = "\
A trace that breaks off gets a report of what was read before that, and exit
code 1. All bytes are bytes of slots, which is what objects cost; what the
program asked for stands beside them where the trace tells.

Example:
  slabscope report app.1234.trace --json | jq .report.objects.peak";

const DUMP_HELP: &str = "\
Examples:
  slabscope dump app.1234.trace | grep -c HeapObjectAlloc
  slabscope dump app.1234.trace --from 1.5s --to 1.6s
  slabscope dump app.1234.trace --json | jq 'select(.name == \"SpanAlloc\")'";

const VERIFY_HELP: &str = "\
It checks that the file can be read to its end; that every free has its alloc,
no slot and no page is used twice, and nothing lies outside a span; that there
are as many events of each kind as the closing counts say, and none was lost;
and that all side data can be read. Traces of Go have no closing counts.

Exit code 0 when nothing is wrong, 1 when something is, 2 when the file cannot
be read as a trace at all.

Example:
  slabscope verify app.1234.trace && echo sound";

const RECOVER_HELP: &str = "\
A traced program keeps FILE.live beside its trace. If it is killed, that file
has the events which were on their way to the disk, and every command of
slabscope takes them from there. This one writes them to the trace, so that
other tools see them too, and removes FILE.live.

Examples:
  slabscope recover app.1234.trace && go tool trace app.1234.trace
  slabscope recover app.1234.trace --json | jq .recover.events";

const SYMBOLIZE_HELP: &str = "\
Functions, files, lines and types go into the trace, stacks into Go's own table
of stacks. Programs that read Go's traces find them there, and slabscope needs
the program's files no more.

Example:
  slabscope symbolize app.1234.trace -o app.named.trace";

#[derive(Debug, ClapArgs)]
pub(crate) struct SymbolizeArgs {
    /// The trace
    pub(crate) file: PathBuf,
    /// Write to this file, not to standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print what was found as JSON, with a version in it; needs --out
    #[arg(long, requires = "out")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RecoverArgs {
    /// The trace
    pub(crate) file: PathBuf,
    /// Print what was done as JSON for machines, with a version in it
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ReportArgs {
    /// The trace
    pub(crate) file: PathBuf,
    /// Print JSON for machines, with a version in it
    #[arg(long)]
    pub(crate) json: bool,
    /// Show every row of the tables, not just the largest
    #[arg(long, conflicts_with = "json")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct DumpArgs {
    /// The trace
    pub(crate) file: PathBuf,
    /// Print the file's records, as 'go tool trace -d=wire' does
    ///
    /// They are in the order of the file. With --from or --to, those of all
    /// generations in which the part lies.
    #[arg(long, conflicts_with = "json", verbatim_doc_comment)]
    pub(crate) wire: bool,
    /// Print JSON for machines, an event a line after one with a version
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct VerifyArgs {
    /// The trace
    pub(crate) file: PathBuf,
    /// Print JSON for machines, with a version in it
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn help_fits_a_terminal() {
        let mut command = Args::command();
        let mut texts = vec![command.render_long_help().to_string()];
        let subcommands = command.get_subcommands_mut();
        texts.extend(subcommands.map(|command| command.render_long_help().to_string()));
        // The program, its eighteen commands and `help`.
        assert_eq!(texts.len(), 20);
        for line in texts.iter().flat_map(|text| text.lines()) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
