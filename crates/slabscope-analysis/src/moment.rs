//! Moments of a trace: since its start, and by the wall clock.

use serde::{Deserialize, Serialize};
use slabscope_trace::{ClockSnapshot, Time};

/// A moment of the traced run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// Nanoseconds since the trace's start.
    pub since_start_ns: i64,
    /// Nanoseconds since 1970 in UTC, where the trace tells.
    pub unix_ns: Option<i64>,
}

/// What turns the trace's times into moments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    start: Option<Time>,
    snapshot: Option<ClockSnapshot>,
}

impl Clock {
    /// Its start, and one moment on several clocks.
    pub(crate) fn parts(&self) -> (Option<Time>, Option<ClockSnapshot>) {
        (self.start, self.snapshot)
    }

    /// Notes where a generation begins; the first one counts.
    pub(crate) fn sync(&mut self, time: Time, snapshot: Option<ClockSnapshot>) {
        self.start.get_or_insert(time);
        if self.snapshot.is_none() {
            self.snapshot = snapshot;
        }
    }

    /// The moment the trace begins.
    pub(crate) fn start(&self) -> Moment {
        self.start.map_or_else(Moment::default, |start| self.moment(start))
    }

    /// The time so many nanoseconds after the trace's start, or as near as times go.
    pub(crate) fn after_start(&self, ns: i64) -> Option<Time> {
        Some(Time(self.start?.0.saturating_add(ns)))
    }

    /// The time at so many nanoseconds since 1970, where the trace has that clock.
    pub(crate) fn at_unix(&self, ns: i64) -> Option<Time> {
        let snapshot = self.snapshot?;
        let there = unix_ns(&snapshot, snapshot.trace)?;
        Some(Time(snapshot.trace.0.saturating_add(ns.saturating_sub(there))))
    }

    /// The moment of a time of the trace.
    pub(crate) fn moment(&self, time: Time) -> Moment {
        Moment {
            since_start_ns: time.since(self.start.unwrap_or(time)),
            unix_ns: self.snapshot.and_then(|snapshot| unix_ns(&snapshot, time)),
        }
    }
}

/// `None` where the file's numbers lead beyond any date.
fn unix_ns(snapshot: &ClockSnapshot, time: Time) -> Option<i64> {
    let wall = snapshot.wall.seconds.checked_mul(1_000_000_000)?;
    wall.checked_add(i64::from(snapshot.wall.nanos))?.checked_add(time.since(snapshot.trace))
}

#[cfg(test)]
mod tests {
    use super::*;
    use slabscope_trace::WallTime;

    #[test]
    fn a_moment_counts_from_the_start_and_from_1970() {
        let mut clock = Clock::default();
        let wall = WallTime { seconds: 1_000, nanos: 5 };
        clock.sync(Time(100), Some(ClockSnapshot { trace: Time(110), mono: 0, wall }));
        clock.sync(Time(900), None);
        let moment = clock.moment(Time(120));
        assert_eq!(moment.since_start_ns, 20);
        assert_eq!(moment.unix_ns, Some(1_000_000_000_015));
    }

    #[test]
    fn a_date_beyond_all_dates_is_none() {
        let mut clock = Clock::default();
        let wall = WallTime { seconds: i64::MAX, nanos: 0 };
        clock.sync(Time(0), Some(ClockSnapshot { trace: Time(0), mono: 0, wall }));
        assert_eq!(clock.moment(Time(1)).unix_ns, None);
    }
}
