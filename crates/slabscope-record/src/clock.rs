//! What a tick means in nanoseconds.
//!
//! The drainer reads both clocks at its rounds and keeps the pairs. A time between two pairs lies
//! on the line through them; so times rise as ticks do, follow the kernel's monotonic clock through
//! every change of its rate, and need no calibration before the first event.

use slabscope_os::clock;

/// How many pairs are kept. A round's events lie between the last two; one more is for the time at
/// which a generation begins.
const KEPT: usize = 4;

/// How far apart the two readings around one of the kernel's clock may lie, in ticks, before we
/// think that we were interrupted between them.
const APART_MAX: u64 = 2_000;

/// A moment on both clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Anchor {
    /// The CPU's counter.
    pub(crate) ticks: u64,
    /// The monotonic clock, in nanoseconds.
    pub(crate) nanos: u64,
}

impl Anchor {
    /// Both clocks now.
    pub(crate) fn now(ticks_are_nanos: bool) -> Self {
        if ticks_are_nanos {
            let nanos = clock::monotonic_ns();
            return Anchor { ticks: nanos, nanos };
        }
        let mut best = (u64::MAX, Anchor { ticks: 0, nanos: 0 });
        for _ in 0..4 {
            let before = clock::ticks();
            let nanos = clock::monotonic_ns();
            let apart = clock::ticks().saturating_sub(before);
            if apart < best.0 {
                best = (apart, Anchor { ticks: before + apart / 2, nanos });
            }
            if apart < APART_MAX {
                break;
            }
        }
        best.1
    }
}

/// The last pairs, oldest first.
#[derive(Debug)]
pub(crate) struct Anchors {
    kept: [Anchor; KEPT],
    /// The line in use: from `kept[line]` to the next.
    line: Line,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    start: Anchor,
    end_ticks: u64,
    /// Nanoseconds a tick, in units of 2^-32.
    slope: u64,
}

impl Line {
    fn through(start: Anchor, end: Anchor) -> Self {
        let ticks = (end.ticks - start.ticks).max(1);
        let slope = (u128::from(end.nanos - start.nanos) << 32) / u128::from(ticks);
        Line { start, end_ticks: end.ticks, slope: slope as u64 }
    }

    #[inline]
    fn nanos(&self, ticks: u64) -> u64 {
        let passed = ticks.saturating_sub(self.start.ticks);
        self.start.nanos + ((u128::from(passed) * u128::from(self.slope)) >> 32) as u64
    }
}

impl Anchors {
    pub(crate) fn new(first: Anchor) -> Self {
        Anchors { kept: [first; KEPT], line: Line::through(first, first) }
    }

    /// The last two pairs, the older one first.
    pub(crate) fn last_two(&self) -> [Anchor; 2] {
        [self.kept[KEPT - 2], self.kept[KEPT - 1]]
    }

    /// Sees to it that readings up to `ticks` lie between two pairs; `now` is not before that.
    ///
    /// A pair is kept only if it is needed. So while the oldest event that is not taken yet is waited
    /// for, however long, no pair is pushed out that its time depends on.
    pub(crate) fn cover(&mut self, ticks: u64, now: Anchor) {
        let last = self.kept[KEPT - 1];
        // A pair that is not later on both clocks tells nothing.
        if ticks > last.ticks && now.ticks > last.ticks && now.nanos > last.nanos {
            self.kept.copy_within(1.., 0);
            self.kept[KEPT - 1] = now;
        }
    }

    /// The time of a reading that is not later than the last pair; a later one gets that pair's
    /// time, an older one than the first pair the first's.
    #[inline]
    pub(crate) fn nanos(&mut self, ticks: u64) -> u64 {
        if ticks < self.line.start.ticks || ticks >= self.line.end_ticks {
            self.find_line(ticks);
        }
        self.line.nanos(ticks)
    }

    #[cold]
    fn find_line(&mut self, ticks: u64) {
        let after = self.kept.partition_point(|anchor| anchor.ticks <= ticks);
        self.line = match (self.kept.get(after.wrapping_sub(1)), self.kept.get(after)) {
            (Some(&start), Some(&end)) => Line::through(start, end),
            (Some(&last), None) => Line { start: last, end_ticks: last.ticks, slope: 0 },
            (None, _) => Line { start: self.kept[0], end_ticks: self.kept[0].ticks, slope: 0 },
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_rise_with_ticks_across_a_change_of_rate() {
        let mut anchors = Anchors::new(Anchor { ticks: 1000, nanos: 500 });
        anchors.cover(2500, Anchor { ticks: 3000, nanos: 1500 });
        anchors.cover(3900, Anchor { ticks: 4000, nanos: 2500 });
        anchors.cover(9000, Anchor { ticks: 3500, nanos: 9999 }); // Not later: passed over.
        assert_eq!(anchors.nanos(2000), 1000);
        assert_eq!(anchors.nanos(3500), 2000);
        assert_eq!(anchors.nanos(10), 500);
        let mut last = 0;
        for ticks in 900..4000 {
            let nanos = anchors.nanos(ticks);
            assert!(nanos >= last, "{ticks}");
            last = nanos;
        }
        assert_eq!(anchors.nanos(4000), 2500);
        assert_eq!(anchors.nanos(5000), 2500);
    }

    #[test]
    fn pairs_stay_while_an_old_event_is_waited_for() {
        let mut anchors = Anchors::new(Anchor { ticks: 0, nanos: 0 });
        for round in 1..1000 {
            anchors.cover(100, Anchor { ticks: 1000 * round, nanos: 500 * round });
        }
        assert_eq!(anchors.nanos(100), 50);
        assert_eq!(anchors.nanos(400), 200);
    }
}
