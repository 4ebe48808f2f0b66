//! Clock ticks to nanoseconds, as Go's reader rounds them.

use crate::id::Time;
use crate::sync::{ClockSnapshot, WallTime};

/// The clock of a generation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// Nanoseconds a tick.
    tick_ns: f64,
}

impl Clock {
    pub(crate) fn from_frequency(ticks_per_second: u64) -> Self {
        Clock { tick_ns: 1.0 / (ticks_per_second as f64 / 1e9) }
    }

    /// Whether a tick is a nanosecond. Then less than 2⁵³ ticks are as many nanoseconds.
    pub(crate) fn is_nanoseconds(self) -> bool {
        self.tick_ns == 1.0
    }

    /// The time `ticks` stand for.
    ///
    /// Times must equal Go's, so this is a product of floats cut to an integer, and what does not
    /// fit becomes the least integer, as the conversion of x86-64 has it.
    #[inline]
    pub(crate) fn time(self, ticks: u64) -> Time {
        const LIMIT: f64 = 9_223_372_036_854_775_808.0;
        let ns = ticks as f64 * self.tick_ns;
        Time(if (-LIMIT..LIMIT).contains(&ns) { ns as i64 } else { i64::MIN })
    }
}

/// One moment on several clocks, the trace's still in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshot {
    pub(crate) ticks: u64,
    pub(crate) mono: u64,
    pub(crate) seconds: u64,
    pub(crate) nanos: u64,
}

impl Snapshot {
    pub(crate) fn resolve(self, clock: Clock) -> ClockSnapshot {
        let nanos = self.nanos as i64;
        let carry = nanos.div_euclid(1_000_000_000);
        ClockSnapshot {
            trace: clock.time(self.ticks),
            mono: self.mono,
            wall: WallTime {
                seconds: (self.seconds as i64).wrapping_add(carry),
                nanos: nanos.rem_euclid(1_000_000_000) as u32,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_become_whole_nanoseconds() {
        let go = Clock::from_frequency(15_625_000);
        assert_eq!(go.time(3), Time(192));
        let thirds = Clock::from_frequency(3_000_000_000);
        assert_eq!((thirds.time(2), thirds.time(3)), (Time(0), Time(1)));
        assert_eq!(Clock::from_frequency(0).time(0), Time(i64::MIN));
        let nanoseconds = Clock::from_frequency(1_000_000_000);
        assert_eq!(nanoseconds.time(u64::MAX), Time(i64::MIN));
        assert_eq!(nanoseconds.time(u32::MAX.into()), Time(u32::MAX.into()));
        assert_eq!([go, thirds, nanoseconds].map(Clock::is_nanoseconds), [false, false, true]);
    }

    #[test]
    fn nanoseconds_carry_into_seconds() {
        let snapshot = Snapshot { ticks: 0, mono: 1, seconds: 5, nanos: 2_000_000_001 };
        let wall = snapshot.resolve(Clock::from_frequency(1)).wall;
        assert_eq!(wall, WallTime { seconds: 7, nanos: 1 });
    }
}
