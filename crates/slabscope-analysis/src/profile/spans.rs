//! Figures of spans and their pages.

use serde::{Deserialize, Serialize};
use slabscope_trace::Time;

use crate::heap::{Heap, In, Out, SpanKind, Units};
use crate::moment::Moment;
use crate::report::{Extent, SpanKindRow, Spans};
use crate::serde_time;

/// What was counted of spans.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SpanTally {
    existed: Extent,
    allocated: Extent,
    freed: Extent,
    vanished: Extent,
    live: Extent,
    peak: Extent,
    #[serde(with = "serde_time")]
    peak_at: Time,
}

impl SpanTally {
    pub(super) fn span_in(&mut self, pages: u64, how: In, time: Time) {
        match how {
            In::Existed => self.existed.add(pages),
            In::Allocated => self.allocated.add(pages),
        }
        self.live.add(pages);
        if self.live.pages > self.peak.pages {
            (self.peak, self.peak_at) = (self.live, time);
        }
    }

    pub(super) fn span_out(&mut self, pages: u64, how: Out) {
        self.live.sub(pages);
        match how {
            Out::Freed => self.freed.add(pages),
            Out::Vanished => self.vanished.add(pages),
        }
    }

    /// As if these spans had been there before.
    pub(super) fn there(live: Extent) -> SpanTally {
        SpanTally { live, ..SpanTally::default() }
    }

    /// Spans there are existed before, and nothing has happened.
    pub(super) fn begin(&mut self, time: Time) {
        let live = self.live;
        *self =
            SpanTally { existed: live, live, peak: live, peak_at: time, ..SpanTally::default() };
    }

    /// Takes in the part that follows.
    pub(super) fn append(&mut self, next: &SpanTally) {
        if next.peak.pages > self.peak.pages {
            (self.peak, self.peak_at) = (next.peak, next.peak_at);
        }
        // What it began with is known already.
        self.existed.plus(Extent {
            spans: next.existed.spans.saturating_sub(self.live.spans),
            pages: next.existed.pages.saturating_sub(self.live.pages),
        });
        self.allocated.plus(next.allocated);
        self.freed.plus(next.freed);
        self.vanished.plus(next.vanished);
        self.live = next.live;
    }

    /// The figures, with those of the heap as it is at the end; `moment` gives the moment of a peak of
    /// this height.
    pub(crate) fn report<T: Copy>(
        &self,
        heap: &Heap<T>,
        units: &Units,
        moment: impl Fn(Time, u64) -> Moment,
    ) -> Spans {
        let SpanTally { existed, allocated, freed, vanished, live, peak, peak_at } = *self;
        Spans {
            page_bytes: units.bytes(1),
            existed,
            allocated,
            freed,
            vanished,
            live,
            peak,
            peak_at: moment(peak_at, peak.pages),
            kinds: kinds(heap, units),
        }
    }
}

/// The spans there are, by kind.
fn kinds<T: Copy>(heap: &Heap<T>, units: &Units) -> Vec<SpanKindRow> {
    let kinds = ["small", "large", "other", "unknown"].map(|kind| SpanKindRow {
        kind,
        extent: Extent::default(),
        bytes: 0,
        live_bytes: None,
        empty_spans: None,
    });
    let mut kinds = Vec::from(kinds);
    for view in heap.spans() {
        let span = view.span;
        let row = &mut kinds[match span.kind {
            SpanKind::Small(_) => 0,
            SpanKind::Large => 1,
            SpanKind::Other => 2,
            SpanKind::Unknown => 3,
        }];
        row.extent.add(span.pages);
        row.bytes = row.bytes.saturating_add(units.bytes(span.pages));
        if span.slot_count > 0 {
            let count = view.live();
            let live = row.live_bytes.get_or_insert(0);
            *live = live.saturating_add(count.saturating_mul(span.slot_bytes));
            *row.empty_spans.get_or_insert(0) += u64::from(count == 0);
        }
    }
    kinds.retain(|row| row.extent.spans > 0);
    kinds
}
