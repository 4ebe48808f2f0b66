//! Every allocation and free one by one, with what the heap knows of them.

use std::ops::ControlFlow;

use serde::Serialize;
use slabscope_trace::{Open, Time};

use crate::error::AnalyzeError;
use crate::heap::{In, Listener, Out, Place};
use crate::moment::Clock;
use crate::names::Names;
use crate::profile::SiteLabel;
use crate::replay::{Lens, Now, is_of_object, replay};
use crate::report::ReadError;
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

/// Tells `each` of everything that happens to objects in a part of a trace, in
/// order, until it breaks off; names are looked for as `symbols` say. Returns where reading ended, if
/// that was before the end of the file.
///
/// # Errors
/// When the trace has no such part.
pub fn each_object(
    trace: Open<'_>,
    window: Window,
    symbols: slabscope_symbols::Options,
    each: &mut dyn FnMut(ObjectEvent) -> ControlFlow<()>,
) -> Result<Option<ReadError>, AnalyzeError> {
    let lens = Teller {
        each,
        names: Names::new(symbols),
        is_in: window.from.is_none(),
        now: Now::default(),
        start: None,
        is_told: Vec::new(),
        has_enough: false,
    };
    Ok(replay(trace, window, lens, &mut |_| {})?.error)
}

/// What is known of an object while it lives.
#[derive(Clone, Copy, Debug)]
struct Tag {
    site: SiteId,
    /// `None` if that was before the trace.
    born: Option<Time>,
}

struct Teller<'a> {
    each: &'a mut dyn FnMut(ObjectEvent) -> ControlFlow<()>,
    names: Names,
    is_in: bool,
    now: Now,
    start: Option<Time>,
    /// By number, the sites that were told.
    is_told: Vec<bool>,
    has_enough: bool,
}

impl Teller<'_> {
    fn tell(&mut self, event: ObjectEvent) {
        if self.is_in && !self.has_enough {
            self.has_enough = (self.each)(event).is_break();
        }
    }

    fn object(&mut self, event: &'static str, place: Place, tag: Tag, lifetime_ns: Option<i64>) {
        let now = self.now;
        if !is_of_object(now.kind) {
            // It went with its span, and which it was nobody says.
            return;
        }
        self.tell(ObjectEvent::Object(ObjectRow {
            event,
            t_ns: now.time.since(self.start.unwrap_or(now.time)),
            thread: now.thread,
            object: now.id,
            slot_bytes: place.bytes,
            site: tag.site.0,
            lifetime_ns,
        }));
    }
}

impl Lens for Teller<'_> {
    fn now(&mut self) -> &mut Now {
        &mut self.now
    }

    fn event(&mut self, sites: &Sites) {
        let now = self.now;
        let id = now.site.id;
        let index = id.0 as usize;
        if id == SiteId::UNKNOWN || !self.is_in {
            return;
        }
        if index >= self.is_told.len() {
            self.is_told.resize(index + 1, false);
        }
        if !self.is_told[index] {
            self.is_told[index] = true;
            let site = sites.get(id);
            let stack = self.names.stack(sites.stacks(), site.stack);
            let type_of = self.names.type_of(sites.stacks(), site);
            let label = SiteLabel::new(site, type_of.as_ref(), stack);
            self.tell(ObjectEvent::Site(SiteRow { event: "site", site: id.0, label }));
        }
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
            In::Existed => ("exists", None),
            In::Allocated => ("alloc", Some(self.now.time)),
        };
        let tag = Tag { site: self.now.site.id, born };
        self.object(event, place, tag, None);
        tag
    }

    fn object_out(&mut self, place: Place, tag: Tag, how: Out) {
        let event = match how {
            Out::Freed => "free",
            Out::Vanished => "vanish",
        };
        let lifetime = tag.born.map(|born| self.now.time.since(born));
        self.object(event, place, tag, lifetime);
    }
}
