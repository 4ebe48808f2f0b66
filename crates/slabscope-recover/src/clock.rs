//! From ticks to nanoseconds, by the last two moments that the recorder noted.

use slabscope_wire::live::{checkpoint, header};

use crate::live::Live;

/// A line through two moments on both clocks, or the ticks themselves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    ticks: i128,
    nanos: i128,
    /// Nanoseconds for so many ticks.
    rise: i128,
    run: i128,
}

impl Clock {
    pub(crate) fn new(live: &Live<'_>) -> Self {
        if live.header(header::TICKS_ARE_NANOS) == Ok(1) {
            return Clock { ticks: 0, nanos: 0, rise: 1, run: 1 };
        }
        let [older, older_nanos, newer, newer_nanos] =
            [0, 1, 2, 3].map(|index| i128::from(live.checkpoint(checkpoint::CLOCK + index)));
        let (rise, run) = (newer_nanos - older_nanos, newer - older);
        // Moments that are not one after the other tell no rate: all times are then the last one.
        let (rise, run) = if rise > 0 && run > 0 { (rise, run) } else { (0, 1) };
        Clock { ticks: newer, nanos: newer_nanos, rise, run }
    }

    pub(crate) fn nanos(&self, ticks: u64) -> u64 {
        // A broken file may name moments that are ages apart.
        let passed = (i128::from(ticks) - self.ticks).saturating_mul(self.rise) / self.run;
        let nanos = self.nanos.saturating_add(passed);
        u64::try_from(nanos.max(0)).unwrap_or(u64::MAX)
    }
}
