//! Arguments of the commands that answer one question each.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::Shell;
use slabscope_analysis::Grouping;

use super::explain_help as help;
use crate::export;
use crate::symbols::SymbolArgs;
use crate::window::{self, WindowArgs};

/// Commands that answer one question each.
#[derive(Debug, Subcommand)]
pub(crate) enum Explain {
    /// What was live at the peak, by size class, site and thread
    #[command(after_help = help::PEAK)]
    Peak(TraceArgs),
    /// What is live at the end, by site, thread and age
    #[command(after_help = help::LEAKS)]
    Leaks(TraceArgs),
    /// Objects freed right after they were allocated
    #[command(after_help = help::TEMPORARY)]
    Temporary(TemporaryArgs),
    /// Which sizes were asked for, and what their slots waste
    #[command(after_help = help::SIZES)]
    Sizes(TraceArgs),
    /// Every site: how much, how long it lived, how much is left
    #[command(after_help = help::SITES)]
    Sites(SitesArgs),
    /// Every type: how much, how long it lived, how much is left
    #[command(after_help = help::TYPES)]
    Types(TraceArgs),
    /// Who allocates, and who frees what whom had allocated
    #[command(after_help = help::THREADS)]
    Threads(TraceArgs),
    /// How full spans are, and what keeps nearly empty ones
    #[command(after_help = help::SPANS)]
    Spans(SpansArgs),
    /// What changed from one trace to another
    #[command(after_help = help::DIFF)]
    Diff(DiffArgs),
    /// A flame graph as SVG
    #[command(after_help = help::FLAMEGRAPH)]
    Flamegraph(FlamegraphArgs),
    /// The trace in a form that other programs read
    #[command(after_help = help::EXPORT)]
    Export(ExportArgs),
    /// Manual pages, for 'man'
    #[command(after_help = help::MAN)]
    Man(ManArgs),
    /// Completions for a shell, on standard output
    #[command(after_help = help::COMPLETIONS)]
    Completions(CompletionsArgs),
}

/// What every question needs.
#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    /// The trace
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
}

/// How to print the answer.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct OutputArgs {
    /// Print JSON for machines, with a version in it
    #[arg(long)]
    pub(crate) json: bool,
    /// Show every row of the tables, not just the largest
    #[arg(long, conflicts_with = "json")]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SitesArgs {
    #[command(flatten)]
    pub(crate) trace: TraceArgs,
    /// What to put together
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub(crate) by: SitesBy,
}

/// What a row of sites is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SitesBy {
    /// A call stack
    #[default]
    Stack,
    /// A line of the program's own code
    Line,
    /// A function of the program's own code
    Function,
    /// A source file of the program's own code
    File,
    /// A module of the program's own code
    Module,
    /// The crate that asked the standard library
    Crate,
}

impl SitesBy {
    /// What the analysis puts together; `None` for each stack by itself.
    pub(crate) fn grouping(self) -> Option<Grouping> {
        match self {
            SitesBy::Stack => None,
            SitesBy::Line => Some(Grouping::Line),
            SitesBy::Function => Some(Grouping::Function),
            SitesBy::File => Some(Grouping::File),
            SitesBy::Module => Some(Grouping::Module),
            SitesBy::Crate => Some(Grouping::Crate),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct TemporaryArgs {
    #[command(flatten)]
    pub(crate) trace: TraceArgs,
    /// How soon: within so many of the thread's own allocations and frees, or
    /// within a time such as 10us
    #[arg(long, value_name = "N|TIME", value_parser = window::soon, default_value = "16",
        verbatim_doc_comment)]
    pub(crate) within: slabscope_analysis::Temporary,
}

#[derive(Debug, Args)]
pub(crate) struct SpansArgs {
    #[command(flatten)]
    pub(crate) trace: TraceArgs,
    /// Call a span nearly empty when less than so much of it is in use
    #[arg(long, value_name = "PERCENT", default_value_t = 25,
        value_parser = clap::value_parser!(u8).range(1..=100))]
    pub(crate) below: u8,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The trace to compare with
    pub(crate) before: PathBuf,
    /// The trace that may be better or worse
    pub(crate) after: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
}

/// What a flame graph and folded stacks weigh by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Weight {
    /// Bytes allocated
    #[default]
    Bytes,
    /// Objects allocated
    Count,
    /// Bytes live at the peak
    Peak,
    /// Bytes live at the end
    Leaked,
    /// Objects freed right after they were allocated
    Temporary,
}

#[derive(Debug, Args)]
pub(crate) struct FlamegraphArgs {
    /// The trace
    pub(crate) file: PathBuf,
    /// What the widths stand for
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub(crate) weight: Weight,
    /// Print the tree as JSON for machines, with a version in it
    #[arg(long)]
    pub(crate) json: bool,
    /// Write to this file, not to standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The trace
    pub(crate) file: PathBuf,
    /// The form
    #[arg(long, value_name = "FORM", value_parser = export::names())]
    pub(crate) format: String,
    /// What to weigh by, in forms that have one weight
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub(crate) weight: Weight,
    /// Write to this file, not to standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print what was written as JSON, with a version in it; needs --out
    #[arg(long, requires = "out")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write a page for each command into this directory; without it, the
    /// program's page goes to standard output
    #[arg(long, value_name = "DIR", verbatim_doc_comment)]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}
