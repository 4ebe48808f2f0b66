//! The commands that answer one question each: make a profile, look at it, print the answer.

use std::io::{BufWriter, Write, stdout};
use std::path::Path;

use serde::{Serialize, Serializer};
use slabscope_analysis::{Account, Diff, Profile, ProfileOptions};

use crate::args::{DiffArgs, Explain, OutputArgs, SitesArgs, SpansArgs, TemporaryArgs, TraceArgs};
use crate::exit_code::Outcome;
use crate::failure::Failure;
use crate::symbols::SymbolArgs;
use crate::text::explain::{self as text, Page};
use crate::text::report::Rows;
use crate::window::WindowArgs;
use crate::{cut_off, doubts};
use crate::{export, flamegraph, index, json, manual, symbols};

pub(crate) fn run(command: &Explain) -> Result<Outcome, Failure> {
    match command {
        Explain::Peak(args) => simple(args, "peak", Profile::peak, text::peak),
        Explain::Leaks(args) => simple(args, "leaks", Profile::leaks, text::leaks),
        Explain::Temporary(args) => temporary(args),
        Explain::Sizes(args) => simple(args, "sizes", Profile::sizes, text::sizes),
        Explain::Sites(args) => sites(args),
        Explain::Types(args) => simple(args, "types", Profile::types, text::types),
        Explain::Threads(args) => simple(args, "threads", Profile::threads, text::threads),
        Explain::Spans(args) => spans(args),
        Explain::Diff(args) => diff(args),
        Explain::Flamegraph(args) => flamegraph::run(args),
        Explain::Export(args) => export::run(args),
        Explain::Man(args) => manual::man(args),
        Explain::Completions(args) => manual::completions(args),
    }
}

/// What a command needs of the trace in `file`.
pub(crate) fn options(window: WindowArgs, symbols: &SymbolArgs) -> Result<ProfileOptions, Failure> {
    let window = window.window().map_err(Failure::Input)?;
    Ok(ProfileOptions { window, symbols: symbols.options(), ..ProfileOptions::default() })
}

/// The profile of the file.
pub(crate) fn make(
    path: &Path,
    options: &ProfileOptions,
    window: WindowArgs,
) -> Result<Profile, Failure> {
    let mut profile = index::profile(path, options, window.may_index())?;
    profile.find_names(options.symbols.clone());
    Ok(profile)
}

/// Says what the user should know of the trace beside the answer.
pub(crate) fn say_trouble(path: &Path, profile: &Profile) -> Outcome {
    doubts::say(path, &profile.account());
    symbols::say_missing(&profile.finish_names());
    let trouble = cut_off::Trouble {
        error: profile.error.as_ref(),
        generations: profile.tracing.generations,
        state: profile.completeness.state,
        has_heap_events: !profile.is_empty(),
    };
    trouble.say(path)
}

fn sites(args: &SitesArgs) -> Result<Outcome, Failure> {
    let options = options(args.trace.window, &args.trace.symbols)?;
    let Some(by) = args.by.grouping() else {
        return answer(&args.trace, &options, "sites", Profile::sites, text::sites);
    };
    let view = |profile: &Profile| profile.groups(by);
    answer(&args.trace, &options, "sites", view, text::groups)
}

fn simple<V: Serialize>(
    args: &TraceArgs,
    name: &'static str,
    view: fn(&Profile) -> V,
    write: fn(&V, &Page<'_>, &mut dyn Write) -> std::io::Result<()>,
) -> Result<Outcome, Failure> {
    answer(args, &options(args.window, &args.symbols)?, name, view, write)
}

fn temporary(args: &TemporaryArgs) -> Result<Outcome, Failure> {
    let mut options = options(args.trace.window, &args.trace.symbols)?;
    options.temporary = args.within;
    let write = |view: &_, page: &Page<'_>, out: &mut dyn Write| {
        text::temporary(view, args.within, page, out)
    };
    answer(&args.trace, &options, "temporary", Profile::temporary, write)
}

fn spans(args: &SpansArgs) -> Result<Outcome, Failure> {
    let mut options = options(args.trace.window, &args.trace.symbols)?;
    options.nearly_empty = f64::from(args.below) / 100.0;
    let write =
        |view: &_, page: &Page<'_>, out: &mut dyn Write| text::spans(view, args.below, page, out);
    answer(&args.trace, &options, "spans", Profile::spans, write)
}

fn answer<V: Serialize>(
    args: &TraceArgs,
    options: &ProfileOptions,
    name: &'static str,
    view: impl Fn(&Profile) -> V,
    write: impl Fn(&V, &Page<'_>, &mut dyn Write) -> std::io::Result<()>,
) -> Result<Outcome, Failure> {
    let mut profile = make(&args.file, options, args.window)?;
    if !args.output.json {
        profile.name_rows(rows(args.output).most());
    }
    let view = view(&profile);
    let mut out = BufWriter::new(stdout().lock());
    if args.output.json {
        let view = Named { name, view: &view };
        json::write(&args.file, &profile.account(), &view, &mut out)?;
    } else {
        write(&view, &page(&args.file, &profile, args.output), &mut out)?;
    }
    out.flush()?;
    Ok(say_trouble(&args.file, &profile))
}

fn diff(args: &DiffArgs) -> Result<Outcome, Failure> {
    let options = options(args.window, &args.symbols)?;
    let [before, after] = [&args.before, &args.after].map(|path| make(path, &options, args.window));
    let (before, after) = (before?, after?);
    let diff = Diff::new(&before, &after);
    let mut out = BufWriter::new(stdout().lock());
    if args.output.json {
        let (file, account) = (args.before.to_string_lossy(), before.account());
        let before = Before { file: &file, completeness: &account };
        let both = Both { before, diff: &diff };
        json::write(&args.after, &after.account(), &both, &mut out)?;
    } else {
        text::diff(&diff, &args.before, &page(&args.after, &after, args.output), &mut out)?;
    }
    out.flush()?;
    let outcomes = [say_trouble(&args.before, &before), say_trouble(&args.after, &after)];
    Ok(Outcome::finding_if(outcomes.contains(&Outcome::Finding)))
}

fn page<'a>(path: &'a Path, profile: &'a Profile, output: OutputArgs) -> Page<'a> {
    Page { path, profile, rows: rows(output) }
}

fn rows(output: OutputArgs) -> Rows {
    if output.all { Rows::All } else { Rows::Largest }
}

/// A comparison, and what is known of the trace that the other one is compared with.
#[derive(Serialize)]
struct Both<'a> {
    before: Before<'a>,
    diff: &'a Diff,
}

#[derive(Serialize)]
struct Before<'a> {
    file: &'a str,
    completeness: &'a Account,
}

/// A result under the name of its command.
struct Named<'a, V> {
    name: &'static str,
    view: &'a V,
}

impl<V: Serialize> Serialize for Named<'_, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.name, self.view)])
    }
}
