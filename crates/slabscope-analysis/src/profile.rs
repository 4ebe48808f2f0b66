//! The profile: what every question about objects can be answered from, made in one pass.
//!
//! Each question has a view: [`Profile::peak`], [`Profile::leaks`], [`Profile::temporary`],
//! [`Profile::sizes`], [`Profile::sites`], [`Profile::threads`], [`Profile::spans`],
//! [`Profile::stacks`], and [`crate::Diff`] for two of them.

mod cell;
mod census;
mod group;
mod ledger;
mod lifetimes;
mod survivors;
mod timeline;

pub use census::{ClassSpans, Pinned, STRETCHES};
pub use group::{By, ClassLabel, SiteLabel, ThreadLabel};
pub use lifetimes::Lifetime;
pub use survivors::{AGES, Ages};
pub use timeline::Point;

use std::collections::{BTreeMap, HashSet};

use foldhash::fast::RandomState;
use serde::Serialize;
use slabscope_symbols::Finding;

use crate::error::AnalyzeError;
use crate::moment::Moment;
use crate::names::{Named, Names};
use crate::replay::{Replayed, replay};
use crate::report::{Amount, Completeness, Peak, ReadError, Tracing};
use crate::sites::{SiteId, Sites};
use crate::threads::{Owner, Thread};
use crate::window::{Part, Window};
pub(crate) use cell::{Cell, Class};
pub(crate) use census::Census;
use ledger::{Ledger, SiteTrack};
use survivors::Survivors;

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
    /// Where and why reading ended before the end of the file.
    pub error: Option<ReadError>,
    /// The sums of all objects.
    pub totals: Totals,
    /// What was live over time.
    pub timeline: Vec<Point>,
    /// Bytes of a page.
    pub(crate) page_bytes: u64,
    pub(crate) cells: Vec<Cell>,
    pub(crate) peaks: u64,
    pub(crate) survivors: Survivors,
    pub(crate) sites: Sites,
    /// The first of sites with the same stack and several sizes.
    pub(crate) mixed: HashSet<SiteId, RandomState>,
    pub(crate) named: Named,
    /// What was found of the program's files.
    pub symbols: Vec<Finding>,
    pub(crate) tracks: Vec<SiteTrack>,
    pub(crate) threads: Vec<Thread>,
    /// By who allocated and who freed.
    pub(crate) pairs: BTreeMap<(Owner, Owner), Amount>,
    pub(crate) census: Census,
}

/// Replays a part of the trace that is `bytes`, and keeps what happened to its objects.
///
/// `progress` is told now and then how many bytes were read. A trace that is broken further on gets
/// the profile of what was read before; [`Profile::error`] says where that ended.
///
/// # Errors
/// When the bytes do not begin as a trace that can be read, or have no such part.
pub fn profile(
    bytes: &[u8],
    options: &ProfileOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<Profile, AnalyzeError> {
    let ledger = Ledger::new(options.temporary);
    Ok(Profile::new(replay(bytes, options.window, ledger, progress)?, options))
}

impl Profile {
    fn new(replayed: Replayed<Ledger>, options: &ProfileOptions) -> Profile {
        let (tracing, units, clock) = (replayed.tracing(), replayed.side.units(), replayed.clock);
        let ledger = replayed.lens;
        let cells = ledger.cells.all;
        let key = |tag: ledger::Tag| cells.get(tag.cell()).map(|cell| cell.key);
        let census = Census::take(&replayed.heap, &units, options.nearly_empty, key);
        let part = replayed.part;
        let at = |moment: Moment| clock.after_start(moment.since_start_ns).unwrap_or_default();
        let (from, to) = (at(part.from), at(part.to));
        let survivors = Survivors::take(&replayed.heap, cells.len(), from, to);
        let sum = |figure: fn(&Cell) -> Amount| {
            cells.iter().fold(Amount::default(), |mut sum, cell| {
                sum.plus(figure(cell));
                sum
            })
        };
        let peak_at = if ledger.peak.bytes == 0 { from } else { ledger.peak_at };
        let Amount { objects, bytes } = ledger.peak;
        let totals = Totals {
            existed: sum(|cell| cell.existed),
            allocated: sum(|cell| cell.allocated),
            freed: sum(|cell| cell.freed),
            temporary: sum(|cell| cell.temporary),
            vanished: ledger.vanished,
            live: ledger.live,
            peak: Peak { objects, bytes, at: clock.moment(peak_at) },
        };
        let origin = at(Moment::default());
        let timeline = ledger.timeline.map_or_else(Vec::new, |line| line.points(origin, to));
        let sites = replayed.sites;
        let mut names = Names::new(options.symbols.clone());
        let named = names.all(sites.stacks());
        Profile {
            tracing,
            part,
            completeness: replayed.completeness,
            contradictions: ledger.faults,
            error: replayed.error,
            totals,
            timeline,
            page_bytes: units.bytes(1),
            cells,
            peaks: ledger.peaks,
            survivors,
            mixed: mixed(&sites),
            sites,
            named,
            symbols: names.findings(),
            tracks: ledger.sites,
            threads: replayed.threads.all().to_vec(),
            pairs: ledger.pairs.into_iter().collect(),
            census,
        }
    }

    /// Whether the trace tells anything of objects.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// What a cell had live at the peak.
    pub(crate) fn at_peak(&self, cell: &Cell) -> Amount {
        cell.at_peak(self.peaks)
    }
}

/// The first of sites with the same stack that are not all of one size and alignment.
fn mixed(sites: &Sites) -> HashSet<SiteId, RandomState> {
    let all = (0..).map(SiteId).zip(sites.all());
    let asked = |id: SiteId| sites.get(id).size.zip(sites.get(id).align);
    let differs = |(id, _): &(SiteId, _)| asked(*id) != asked(sites.group(*id));
    all.filter(differs).map(|(id, _)| sites.group(id)).collect()
}
