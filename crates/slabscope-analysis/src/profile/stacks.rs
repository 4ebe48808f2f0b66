//! Figures of stacks.

use serde::{Deserialize, Serialize};
use slabscope_trace::Time;

use crate::heap::{In, Out};
use crate::moment::Moment;
use crate::report::{StackAmount, Stacks};
use crate::serde_time;

/// What was counted of stacks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct StackTally {
    counted: Stacks,
    #[serde(with = "serde_time")]
    peak_at: Time,
}

impl StackTally {
    pub(super) fn stack_in(&mut self, bytes: u64, how: In, time: Time) {
        let stacks = &mut self.counted;
        stacks.live.add(bytes);
        match how {
            In::Existed => stacks.existed.add(bytes),
            In::Allocated => stacks.allocated.add(bytes),
        }
        if stacks.live.bytes > stacks.peak.bytes {
            stacks.peak = stacks.live;
            self.peak_at = time;
        }
    }

    pub(super) fn stack_out(&mut self, bytes: u64, how: Out) {
        self.counted.live.sub(bytes);
        if how == Out::Freed {
            self.counted.freed.add(bytes);
        }
    }

    /// As if these stacks had been there before.
    pub(super) fn there(live: StackAmount) -> StackTally {
        StackTally { counted: Stacks { live, ..Stacks::default() }, ..StackTally::default() }
    }

    /// Stacks there are existed before, and nothing has happened.
    pub(super) fn begin(&mut self, time: Time) {
        let live = self.counted.live;
        self.counted = Stacks { existed: live, live, peak: live, ..Stacks::default() };
        self.peak_at = time;
    }

    /// Takes in the part that follows.
    pub(super) fn append(&mut self, next: &StackTally) {
        if next.counted.peak.bytes > self.counted.peak.bytes {
            (self.counted.peak, self.peak_at) = (next.counted.peak, next.peak_at);
        }
        // What it began with is known already.
        let (live, existed) = (self.counted.live, next.counted.existed);
        self.counted.existed.plus(StackAmount {
            stacks: existed.stacks.saturating_sub(live.stacks),
            bytes: existed.bytes.saturating_sub(live.bytes),
        });
        self.counted.allocated.plus(next.counted.allocated);
        self.counted.freed.plus(next.counted.freed);
        self.counted.live = next.counted.live;
    }

    /// The figures; `moment` gives the moment of a peak of this height.
    pub(crate) fn report(&self, moment: impl Fn(Time, u64) -> Moment) -> Stacks {
        Stacks { peak_at: moment(self.peak_at, self.counted.peak.bytes), ..self.counted }
    }
}
