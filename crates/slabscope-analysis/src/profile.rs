//! The profile: what every question about objects can be answered from, made in one pass.
//!
//! Each question has a view: [`Profile::peak`], [`Profile::leaks`], [`Profile::temporary`],
//! [`Profile::sizes`], [`Profile::sites`], [`Profile::threads`], [`Profile::spans`],
//! [`Profile::types`], [`Profile::stacks`], and [`crate::Diff`] for two of them.

mod books;
mod cell;
mod census;
mod delta;
mod group;
mod height;
mod ledger;
mod lifetimes;
mod numbers;
mod spans;
mod stacks;
mod survivors;
mod tag;
mod timeline;

pub use census::{ClassSpans, Pinned, STRETCHES};
pub use group::{By, ClassLabel, SiteLabel, ThreadLabel};
pub use lifetimes::Lifetime;
pub(crate) use lifetimes::Lifetimes;
pub use survivors::{AGES, Ages};
pub use timeline::Point;

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

use foldhash::fast::RandomState;
use serde::Serialize;
use slabscope_symbols::Finding;
use slabscope_trace::{Open, Time};

use crate::error::AnalyzeError;
use crate::fault::FaultRow;
use crate::frame::Frame;
use crate::moment::{Clock, Moment};
use crate::names::Names;
use crate::replay::{Replayed, replay};
use crate::report::{
    Amount, Completeness, Events, Peak, ReadError, SideProblem, Spans, Stacks, Tracing,
};
use crate::site_type::SiteType;
use crate::sites::{SiteId, Sites};
use crate::stacks::StackId;
use crate::threads::Thread;
use crate::window::{Part, Window};
pub(crate) use books::{Books, COUNT_END, Pair};
pub(crate) use cell::Cell;
pub(crate) use census::Census;
pub(crate) use delta::{Delta, Keys};
pub(crate) use ledger::Ledger;
use survivors::Survivors;
pub(crate) use tag::Tag;

/// Which freed objects count as temporary: those their own thread freed soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Temporary {
    /// Within so many of the thread's allocations and frees.
    Events(u64),
    /// Within a time.
    Time {
        /// In nanoseconds.
        ns: i64,
    },
}

/// What to make a profile of, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileOptions {
    /// The part of the trace.
    pub window: Window,
    /// Which objects count as temporary.
    pub temporary: Temporary,
    /// Spans in use to less than this part, from 0 to 1, count as nearly empty.
    pub nearly_empty: f64,
    /// Where to look for names.
    pub symbols: slabscope_symbols::Options,
}

impl Default for ProfileOptions {
    fn default() -> Self {
        ProfileOptions {
            window: Window::default(),
            temporary: Temporary::Events(16),
            nearly_empty: 0.25,
            symbols: slabscope_symbols::Options::default(),
        }
    }
}

/// The sums of all objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Objects there as the part began.
    pub existed: Amount,
    /// Objects allocated.
    pub allocated: Amount,
    /// Objects freed.
    pub freed: Amount,
    /// Objects freed soon after they were allocated, by the thread that did.
    pub temporary: Amount,
    /// Objects that went without an event for it, which is a fault.
    pub vanished: Amount,
    /// Objects live at the end.
    pub live: Amount,
    /// The most bytes that were live.
    pub peak: Peak,
}

/// What is known of all objects of a part of a trace.
#[derive(Debug)]
pub struct Profile {
    /// How the trace was made.
    pub tracing: Tracing,
    /// Which part of it this is about.
    pub part: Part,
    /// Whether it is all there.
    pub completeness: Completeness,
    /// Events that contradict those before them; the report lists them.
    pub contradictions: u64,
    /// How much of the side data is broken, unknown or contradicts the rest; the report lists it.
    pub side_problem_count: u64,
    /// Where and why reading ended before the end of the file.
    pub error: Option<ReadError>,
    /// The sums of all objects.
    pub totals: Totals,
    /// What was live over time.
    pub timeline: Vec<Point>,
    /// How many events there are.
    pub(crate) events: Events,
    pub(crate) stacks: Stacks,
    pub(crate) spans: Spans,
    pub(crate) faults: Vec<FaultRow>,
    pub(crate) side_problems: Vec<SideProblem>,
    pub(crate) unknown_sites: u64,
    pub(crate) clock: Clock,
    pub(crate) books: Books,
    pub(crate) survivors: Survivors,
    pub(crate) sites: Sites,
    /// The first of sites with the same stack and several sizes.
    pub(crate) mixed: HashSet<SiteId, RandomState>,
    /// Names are found when they are asked for; `None` where they are not to be looked for.
    pub(crate) names: RefCell<Option<Names>>,
    /// How many rows of a table of sites have names.
    pub(crate) named_rows: usize,
    pub(crate) threads: Vec<Thread>,
    pub(crate) census: Census,
}

/// Replays a part of a trace, and keeps what happened to its objects.
///
/// `progress` is told now and then how many bytes were read. A trace that is broken further on gets
/// the profile of what was read before; [`Profile::error`] says where that ended.
///
/// # Errors
/// When the trace has no such part.
pub fn profile(
    trace: Open<'_>,
    options: &ProfileOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<Profile, AnalyzeError> {
    let ledger = Ledger::new(options.temporary);
    let mut profile = Profile::new(replay(trace, options.window, ledger, progress)?, options);
    profile.find_names(options.symbols.clone());
    Ok(profile)
}

/// The same without the names of stacks, which may take long to find.
///
/// # Errors
/// When the trace has no such part.
pub fn profile_without_names(
    trace: Open<'_>,
    options: &ProfileOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<Profile, AnalyzeError> {
    let ledger = Ledger::new(options.temporary);
    Ok(Profile::new(replay(trace, options.window, ledger, progress)?, options))
}

impl Profile {
    pub(crate) fn new(replayed: Replayed<Ledger>, options: &ProfileOptions) -> Profile {
        let (tracing, units, clock) = (replayed.tracing(), replayed.side.units(), replayed.clock);
        let (books, heap) = (replayed.lens.books, replayed.heap);
        let keys: Vec<_> = books.keys().collect();
        let key = |tag: Tag| keys.get(tag.cell()).copied();
        let part = replayed.part;
        let at = |moment: Moment| clock.after_start(moment.since_start_ns).unwrap_or_default();
        let (from, to) = (at(part.from), at(part.to));
        // A peak of nothing is at the start.
        let start = clock.start();
        let peak_at = |time, height| if height == 0 { start } else { clock.moment(time) };
        Profile {
            tracing,
            part,
            completeness: replayed.completeness,
            contradictions: books.faults.count(),
            error: replayed.error,
            totals: totals(
                &books,
                if books.height.peak.bytes == 0 { from } else { books.height.peak_at },
                &clock,
            ),
            timeline: books.timeline.as_ref().map_or_else(Vec::new, |line| line.points(to)),
            events: Events { heap: replayed.counts, other: replayed.other },
            stacks: books.stacks.report(peak_at),
            spans: books.spans.report(&heap, &units, peak_at),
            faults: books.faults.rows(&clock),
            side_problems: replayed.side.problems,
            side_problem_count: replayed.side.problem_count,
            unknown_sites: replayed.unknown_sites,
            clock,
            survivors: Survivors::take(&heap, keys.len(), from, to),
            census: Census::take(&heap, &units, options.nearly_empty, key),
            books,
            mixed: mixed(&replayed.sites),
            sites: replayed.sites,
            names: RefCell::new(None),
            named_rows: usize::MAX,
            threads: replayed.threads.all().to_vec(),
        }
    }

    /// Has names of stacks, and types, looked for when a view needs them.
    pub fn find_names(&mut self, options: slabscope_symbols::Options) {
        self.names = RefCell::new(Some(Names::new(options)));
    }

    /// Leaves rows of sites without names but for the first so many: finding those takes longer than all
    /// else.
    pub fn name_rows(&mut self, first: usize) {
        self.named_rows = first;
    }

    /// Keeps the names that views needed for the next time, and says what was found of the program's
    /// files.
    pub fn finish_names(&self) -> Vec<Finding> {
        self.names.borrow_mut().as_mut().map(Names::finish).unwrap_or_default()
    }

    /// The type that owns the memory of a site.
    pub(crate) fn type_of(&self, id: SiteId) -> Option<SiteType> {
        let site = self.sites.all().get(id.0 as usize)?;
        self.names.borrow_mut().as_mut()?.type_of(self.sites.stacks(), site)
    }

    /// The frames of a stack, innermost first, without the allocator's own.
    pub(crate) fn frames(&self, stack: StackId) -> Vec<Arc<Frame>> {
        let mut names = self.names.borrow_mut();
        names.as_mut().map(|names| names.stack(self.sites.stacks(), stack)).unwrap_or_default()
    }

    /// Whether the trace tells anything of objects.
    pub fn is_empty(&self) -> bool {
        self.books.cells.is_empty()
    }

    /// What a cell had live at the peak.
    pub(crate) fn at_peak(&self, cell: &Cell) -> Amount {
        cell.at_peak(self.books.height.peaks)
    }
}

fn totals(books: &Books, peak_at: Time, clock: &Clock) -> Totals {
    let sum = |figure: fn(&Cell) -> Amount| {
        books.cells.iter().fold(Amount::default(), |mut sum, cell| {
            sum.plus(figure(cell));
            sum
        })
    };
    let Amount { objects, bytes } = books.height.peak;
    Totals {
        existed: sum(|cell| cell.existed),
        allocated: sum(|cell| cell.allocated),
        freed: sum(|cell| cell.freed),
        temporary: sum(|cell| cell.temporary),
        vanished: books.vanished,
        live: books.height.live,
        peak: Peak { objects, bytes, at: clock.moment(peak_at) },
    }
}

/// The first of sites with the same stack that are not all of one size and alignment.
fn mixed(sites: &Sites) -> HashSet<SiteId, RandomState> {
    let all = (0..).map(SiteId).zip(sites.all());
    let asked = |id: SiteId| sites.get(id).size.zip(sites.get(id).align);
    let differs = |(id, _): &(SiteId, _)| asked(*id) != asked(sites.group(*id));
    all.filter(differs).map(|(id, _)| sites.group(id)).collect()
}
