//! Every allocation and free one by one, with what the heap knows of them.

use std::ops::ControlFlow;

use serde::Serialize;
use slabscope_trace::{Open, Time};

use crate::error::AnalyzeError;
use crate::fault::FaultKind;
use crate::heap::{In, Listener, Out, Place};
use crate::moment::Clock;
use crate::names::Names;
use crate::profile::{SiteLabel, Tag};
use crate::replay::{Lens, Now, Replay, Replayed, Unwatched, is_of_object};
use crate::report::Account;
use crate::sites::{SiteId, Sites};
use crate::window::Window;

/// What [`each_object`] tells.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ObjectEvent {
    /// A site that objects after this are of.
    Site(SiteRow),
    /// What happened to an object.
    Object(ObjectRow),
}

/// A site and its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SiteRow {
    /// `site`.
    pub event: &'static str,
    /// Its number in this listing.
    pub site: u32,
    /// What is known of it.
    #[serde(flatten)]
    pub label: SiteLabel,
}

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ObjectRow {
    /// `exists` as the trace began, `alloc`, `free`, or `vanish` where the free is missing.
    pub event: &'static str,
    /// When, in nanoseconds since the trace's start.
    pub t_ns: i64,
    /// On which thread.
    pub thread: i64,
    /// Which object: its number in the trace, which is used again when it is free.
    pub object: u64,
    /// Bytes of its slot; 0 where it lies in none.
    pub slot_bytes: u64,
    /// Where it was allocated; 0 where that is not known.
    pub site: u32,
    /// How long it lived, when it goes and its alloc is in the trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lifetime_ns: Option<i64>,
}

/// Whom a listing is told to; it goes on until this breaks off.
pub(crate) type Each<'a> = dyn FnMut(ObjectEvent) -> ControlFlow<()> + 'a;

/// Tells `each` of everything that happens to objects in a part of a trace, in
/// order, until it breaks off; names are looked for as `symbols` say. Returns whether the trace is all
/// there.
///
/// # Errors
/// When the trace has no such part.
pub fn each_object(
    trace: Open<'_>,
    window: Window,
    symbols: slabscope_symbols::Options,
    each: &mut Each<'_>,
) -> Result<Account, AnalyzeError> {
    let teller = Teller::new(window, symbols, Vec::new(), each);
    tell(Replay::new(window, teller), trace)
}

/// The same for a replay at any place before the part.
pub(crate) fn tell(
    mut replay: Replay<Teller<'_>>,
    trace: Open<'_>,
) -> Result<Account, AnalyzeError> {
    let (format, error) = replay.read(trace, &mut Unwatched, &mut |_| {})?;
    replay.lens.tell_rows(&replay.sites);
    let Replayed { lens, completeness, side, error, .. } = replay.finish(format, error)?;
    let account = Account::new(&completeness, error.as_ref());
    Ok(account.checked(lens.contradictions, side.problem_count))
}

/// Tells of objects.
pub(crate) struct Teller<'a> {
    each: &'a mut Each<'a>,
    names: Names,
    is_in: bool,
    now: Now,
    start: Option<Time>,
    /// The sites of the first cells, which an index knows; the others are those of the sites by number.
    known: Vec<SiteId>,
    /// What the last event did, to be told when the sites are at hand.
    rows: Vec<ObjectRow>,
    /// By number, the sites that were told.
    is_told: Vec<bool>,
    contradictions: u64,
    has_enough: bool,
}

impl<'a> Teller<'a> {
    /// Tells `each` of the part `window`; objects that are there are of cells, of which these are the sites.
    pub(crate) fn new(
        window: Window,
        symbols: slabscope_symbols::Options,
        known: Vec<SiteId>,
        each: &'a mut Each<'_>,
    ) -> Teller<'a> {
        Teller {
            each,
            names: Names::new(symbols),
            is_in: window.from.is_none(),
            now: Now::default(),
            start: None,
            known,
            rows: Vec::new(),
            is_told: Vec::new(),
            contradictions: 0,
            has_enough: false,
        }
    }

    fn tell(&mut self, event: ObjectEvent) {
        if !self.has_enough {
            self.has_enough = (self.each)(event).is_break();
        }
    }

    /// Tells what the last event did.
    #[inline]
    fn tell_rows(&mut self, sites: &Sites) {
        for place in 0..self.rows.len() {
            let row = self.rows[place];
            self.tell_site(SiteId(row.site), sites);
            self.tell(ObjectEvent::Object(row));
        }
        self.rows.clear();
    }

    fn tell_site(&mut self, id: SiteId, sites: &Sites) {
        self.is_told.resize(sites.all().len(), false);
        let is_told = self.is_told.get_mut(id.0 as usize);
        if id == SiteId::UNKNOWN || is_told.is_none_or(|told| std::mem::replace(told, true)) {
            return;
        }
        let site = sites.get(id);
        let stack = self.names.stack(sites.stacks(), site.stack);
        let type_of = self.names.type_of(sites.stacks(), site);
        let label = SiteLabel::new(site, type_of.as_ref(), stack);
        self.tell(ObjectEvent::Site(SiteRow { event: "site", site: id.0, label }));
    }

    fn object(&mut self, event: &'static str, place: Place, tag: Tag, lifetime_ns: Option<i64>) {
        let now = self.now;
        // Where it went with its span, nobody says which it was.
        if !self.is_in || !is_of_object(now.kind) {
            return;
        }
        self.rows.push(ObjectRow {
            event,
            t_ns: now.time.since(self.start.unwrap_or(now.time)),
            thread: now.thread,
            object: now.id,
            slot_bytes: place.bytes,
            site: self.site_of(tag).0,
            lifetime_ns,
        });
    }

    fn site_of(&self, tag: Tag) -> SiteId {
        let of_new = |cell: usize| SiteId(u32::try_from(cell).unwrap_or_default());
        let known = self.known.get(tag.cell()).copied();
        known.unwrap_or_else(|| of_new(tag.cell() - self.known.len()))
    }

    fn tag(&self, site: SiteId, born: Time) -> Tag {
        let cell = (self.known.len() as u32).saturating_add(site.0);
        Tag::new(cell, 0, born)
    }
}

impl Lens for Teller<'_> {
    fn now(&mut self) -> &mut Now {
        &mut self.now
    }

    fn event(&mut self, sites: &Sites) {
        self.tell_rows(sites);
    }

    fn sync(&mut self, clock: &Clock) {
        self.start = clock.after_start(0);
    }

    fn window_begins(&mut self, _: Time) {
        self.is_in = true;
    }

    fn has_enough(&self) -> bool {
        self.has_enough
    }
}

impl Listener for Teller<'_> {
    type Tag = Tag;

    fn object_in(&mut self, place: Place, how: In) -> Tag {
        let (event, born) = match how {
            In::Existed => ("exists", Tag::BEFORE),
            In::Allocated => ("alloc", self.now.time),
        };
        let tag = self.tag(self.now.site.id, born);
        self.object(event, place, tag, None);
        tag
    }

    fn object_out(&mut self, place: Place, tag: Tag, how: Out) {
        let event = match how {
            Out::Freed => "free",
            Out::Vanished => "vanish",
        };
        let lifetime = tag.born().map(|born| self.now.time.since(born));
        self.object(event, place, tag, lifetime);
    }

    #[cold]
    fn fault(&mut self, _: FaultKind, _: u64) {
        self.contradictions += u64::from(self.is_in);
    }
}
