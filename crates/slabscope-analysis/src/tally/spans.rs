//! Figures of spans and their pages.

use slabscope_trace::Time;

use crate::heap::{Heap, In, Out, SpanKind, Units};
use crate::moment::Moment;
use crate::report::{Extent, SpanKindRow, Spans};

/// What was counted of spans.
#[derive(Debug, Default)]
pub(crate) struct SpanTally {
    counted: Spans,
    peak_at: Time,
}

impl SpanTally {
    pub(crate) fn span_in(&mut self, pages: u64, how: In, time: Time) {
        let spans = &mut self.counted;
        let came = match how {
            In::Existed => &mut spans.existed,
            In::Allocated => &mut spans.allocated,
        };
        add(came, pages);
        add(&mut spans.live, pages);
        if spans.live.pages > spans.peak.pages {
            spans.peak = spans.live;
            self.peak_at = time;
        }
    }

    pub(crate) fn span_out(&mut self, pages: u64, how: Out) {
        let spans = &mut self.counted;
        spans.live.spans = spans.live.spans.saturating_sub(1);
        spans.live.pages = spans.live.pages.saturating_sub(pages);
        add(
            match how {
                Out::Freed => &mut spans.freed,
                Out::Vanished => &mut spans.vanished,
            },
            pages,
        );
    }

    /// Spans there are existed before, and nothing has happened.
    pub(crate) fn window_begins(&mut self, time: Time) {
        let live = self.counted.live;
        self.counted = Spans { existed: live, live, peak: live, ..Spans::default() };
        self.peak_at = time;
    }

    /// When there were the most pages, and how many.
    pub(crate) fn peak(&self) -> (Time, u64) {
        (self.peak_at, self.counted.peak.pages)
    }

    /// The figures, with those of the heap as it is at the end.
    pub(crate) fn into_report<T: Copy>(
        self,
        heap: &Heap<T>,
        units: &Units,
        peak_at: Moment,
    ) -> Spans {
        let kinds = ["small", "large", "other", "unknown"].map(|kind| SpanKindRow {
            kind,
            extent: Extent::default(),
            bytes: 0,
            live_bytes: None,
            empty_spans: None,
        });
        let mut kinds = Vec::from(kinds);
        for span in heap.spans() {
            let row = &mut kinds[match span.kind {
                SpanKind::Small(_) => 0,
                SpanKind::Large => 1,
                SpanKind::Other => 2,
                SpanKind::Unknown => 3,
            }];
            add(&mut row.extent, span.pages);
            row.bytes = row.bytes.saturating_add(units.bytes(span.pages));
            if span.slot_count > 0 {
                let live = row.live_bytes.get_or_insert(0);
                *live = live.saturating_add(span.live.saturating_mul(span.slot_bytes));
                *row.empty_spans.get_or_insert(0) += u64::from(span.live == 0);
            }
        }
        kinds.retain(|row| row.extent.spans > 0);
        Spans { page_bytes: units.bytes(1), peak_at, kinds, ..self.counted }
    }
}

fn add(extent: &mut Extent, pages: u64) {
    extent.spans += 1;
    extent.pages = extent.pages.saturating_add(pages);
}
