//! How full the spans are at the end, and who keeps nearly empty ones.

use std::cmp::Reverse;

use serde::Serialize;

use crate::heap::Class;
use crate::profile::{By, ClassLabel, ClassSpans, Pinned, Profile, SiteLabel};
use crate::window::Part;

/// The spans at the end of a trace, or of a part of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpansView {
    /// Which part of the trace this is about.
    pub part: Part,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Those of each size class, from small slots to large, then those of large objects.
    pub classes: Vec<By<ClassLabel, ClassSpans>>,
    /// Pages of all of them.
    pub pages: u64,
    /// Pages that would become free, were the objects of each class moved together.
    pub freed_pages: u64,
    /// Those that are nearly empty and not quite.
    pub nearly_empty: ClassSpans,
    /// Whose objects keep those, most bytes of spans first.
    pub pinned: Vec<By<SiteLabel, Pinned>>,
}

impl Profile {
    /// The spans at the end.
    pub fn spans(&self) -> SpansView {
        let census = &self.census;
        let mut classes: Vec<_> = census.classes.iter().collect();
        classes.sort_by_key(|&(&class, _)| (class == Class(0), class));
        let sum = |figure: fn(&ClassSpans) -> u64| {
            census.classes.values().fold(0_u64, |sum, spans| sum.saturating_add(figure(spans)))
        };
        let mut pinned: Vec<_> = census.pinned.iter().collect();
        pinned.sort_by_key(|&(&site, pinned)| (Reverse(pinned.span_bytes), site));
        SpansView {
            part: self.part,
            page_bytes: self.spans.page_bytes,
            pages: sum(|spans| spans.pages),
            freed_pages: sum(|spans| spans.freed_pages),
            classes: classes
                .into_iter()
                .map(|(&class, &figures)| By { label: class.into(), figures })
                .collect(),
            nearly_empty: census.nearly_empty,
            pinned: pinned
                .into_iter()
                .map(|(&site, &figures)| By { label: self.site_label(site), figures })
                .collect(),
        }
    }
}
