//! The spans there are at the end: how full they are, and what keeps nearly empty ones.

use std::collections::BTreeMap;

use serde::Serialize;

use super::cell::Key;
use super::tag::Tag;
use crate::heap::{Class, Heap, Span, SpanKind, SpanView, Units};
use crate::sites::SiteId;

/// How many stretches of occupancy there are between empty and full.
pub const STRETCHES: usize = 10;

/// The spans of one size class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClassSpans {
    /// How many.
    pub spans: u64,
    /// Their pages.
    pub pages: u64,
    /// Slots in them.
    pub slots: u64,
    /// Slots in use.
    pub live: u64,
    /// Bytes of slots in use.
    pub live_bytes: u64,
    /// Spans with no object in them.
    pub empty: u64,
    /// Pages of those.
    pub empty_pages: u64,
    /// Spans by how full they are, in tenths; those with no object are not among them.
    pub by_tenth: [u64; STRETCHES],
    /// How many spans would do, were the objects moved together.
    pub needed_spans: u64,
    /// Pages that would become free.
    pub freed_pages: u64,
}

/// What one site keeps of nearly empty spans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pinned {
    /// Nearly empty spans with objects of the site in them.
    pub spans: u64,
    /// The objects.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Its part of the spans' bytes, where several sites share one.
    pub span_bytes: u64,
}

/// All spans that have slots.
#[derive(Clone, Debug, Default)]
pub(crate) struct Census {
    pub(crate) classes: BTreeMap<Class, ClassSpans>,
    pub(crate) nearly_empty: ClassSpans,
    pub(crate) pinned: BTreeMap<SiteId, Pinned>,
}

impl Census {
    /// Counts the spans of `heap`. Those whose slots are in use to less than `nearly_empty`, a part
    /// from 0 to 1, count as nearly empty.
    pub(crate) fn take(
        heap: &Heap<Tag>,
        units: &Units,
        nearly_empty: f64,
        key: impl Fn(Tag) -> Option<Key>,
    ) -> Census {
        let mut census = Census::default();
        for view in heap.spans().filter(|view| view.span.slot_count > 0) {
            let (span, live) = (view.span, view.live());
            census.classes.entry(Class::of(span.kind)).or_default().add(span, live);
            let part = live as f64 / span.slot_count as f64;
            if matches!(span.kind, SpanKind::Small(_)) && live > 0 && part < nearly_empty {
                census.nearly_empty.add(span, live);
                census.pin(&view, live, units, &key);
            }
        }
        for (class, spans) in &mut census.classes {
            spans.compact(*class);
        }
        census
    }

    fn pin(
        &mut self,
        view: &SpanView<'_, Tag>,
        live: u64,
        units: &Units,
        key: impl Fn(Tag) -> Option<Key>,
    ) {
        let (span, mut sites) = (view.span, BTreeMap::<SiteId, u64>::new());
        for key in view.objects().filter_map(|(_, tag)| key(tag)) {
            *sites.entry(key.site).or_default() += 1;
        }
        for (site, objects) in sites {
            let pinned = self.pinned.entry(site).or_default();
            pinned.spans += 1;
            pinned.objects += objects;
            pinned.bytes = pinned.bytes.saturating_add(objects.saturating_mul(span.slot_bytes));
            let share = units.bytes(span.pages).saturating_mul(objects) / live.max(1);
            pinned.span_bytes = pinned.span_bytes.saturating_add(share);
        }
    }
}

impl ClassSpans {
    fn add(&mut self, span: &Span<Tag>, live: u64) {
        self.spans += 1;
        self.pages = self.pages.saturating_add(span.pages);
        self.slots = self.slots.saturating_add(span.slot_count);
        self.live += live;
        self.live_bytes = self.live_bytes.saturating_add(live.saturating_mul(span.slot_bytes));
        match live {
            0 => {
                self.empty += 1;
                self.empty_pages = self.empty_pages.saturating_add(span.pages);
            }
            live => {
                let tenth = live.saturating_mul(STRETCHES as u64).div_ceil(span.slot_count);
                self.by_tenth[(tenth as usize).clamp(1, STRETCHES) - 1] += 1;
            }
        }
    }

    /// Works out what moving objects together would give: spans of a class are all alike, so their
    /// means tell.
    fn compact(&mut self, class: Class) {
        let is_large = class == Class(0);
        let slots = self.slots.checked_div(self.spans).unwrap_or(0).max(1);
        // A large object has its span to itself, and only empty spans could go.
        self.needed_spans = if is_large { self.live } else { self.live.div_ceil(slots) };
        let gone = self.spans.saturating_sub(self.needed_spans);
        self.freed_pages = match self.pages.checked_div(self.spans) {
            Some(pages) if !is_large => pages.saturating_mul(gone),
            _ => self.empty_pages,
        };
    }

    /// Slots in use as a part of all, from 0 to 1.
    pub fn occupancy(&self) -> Option<f64> {
        (self.slots > 0).then(|| self.live as f64 / self.slots as f64)
    }
}
