//! How much is live, and how much ever was.

use serde::{Deserialize, Serialize};
use slabscope_trace::Time;

use crate::report::Amount;
use crate::serde_time;

/// How much is live, and the most that was.
///
/// While the heap grows beyond all it was, each allocation makes a higher peak. That is one peak that
/// goes on rising: it gets its number as the rise begins, and is over as something is freed. Cells need
/// not be looked at meanwhile; see [`Cell::settle`](super::cell::Cell::settle).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Height {
    pub(crate) live: Amount,
    pub(crate) peak: Amount,
    #[serde(with = "serde_time")]
    pub(crate) peak_at: Time,
    /// How many peaks there were: each is higher than the last.
    pub(crate) peaks: u64,
    /// Whether what is live is the peak, and every allocation since it began has raised it.
    is_rising: bool,
}

impl Default for Height {
    fn default() -> Self {
        let none = Amount::default();
        Height { live: none, peak: none, peak_at: Time(0), peaks: 0, is_rising: false }
    }
}

impl Height {
    /// An object more. Returns whether the peak rises by it; if not, its cell must be settled before it
    /// changes.
    #[inline]
    pub(super) fn add(&mut self, bytes: u64, time: Time) -> bool {
        self.live.add(bytes);
        let rises = self.live.bytes > self.peak.bytes;
        if rises {
            self.peaks += u64::from(!self.is_rising);
            (self.peak, self.peak_at) = (self.live, time);
        }
        self.is_rising = rises;
        rises
    }

    /// An object less. Its cell must be settled before it changes.
    #[inline]
    pub(super) fn sub(&mut self, bytes: u64) {
        self.live.sub(bytes);
        self.is_rising = false;
    }

    /// The number of a peak that a cell which begins with the current event has seen: the last one,
    /// unless that includes the event.
    #[inline]
    pub(super) fn seen(&self) -> u64 {
        self.peaks - u64::from(self.is_rising)
    }

    /// The same as a part begins: the first peak is what is live then, and has the number 0.
    pub(super) fn begun(&self, time: Time) -> Height {
        let live = self.live;
        Height { live, peak: live, peak_at: time, ..Height::default() }
    }

    /// Takes in what happened in the part that follows; if its peak is higher, there is one more.
    pub(super) fn append(&mut self, next: &Height) {
        if next.peak.bytes > self.peak.bytes {
            (self.peak, self.peak_at) = (next.peak, next.peak_at);
            self.peaks += 1;
        }
        (self.live, self.is_rising) = (next.live, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_that_rises_on_is_one() {
        let mut height = Height::default();
        assert!(height.add(8, Time(1)) && height.add(8, Time(2)));
        assert_eq!((height.peaks, height.seen()), (1, 0));
        height.sub(8);
        assert_eq!((height.peaks, height.seen()), (1, 1));
        // As high as before is no new peak, nor is an object of no bytes on top of it.
        assert!(!height.add(8, Time(4)) && !height.add(0, Time(5)));
        assert!(height.add(1, Time(6)));
        assert_eq!((height.peaks, height.peak_at, height.peak.objects), (2, Time(6), 4));
    }
}
