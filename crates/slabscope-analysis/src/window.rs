//! The part of a trace to look at: from a moment, to a moment.
//!
//! What happened before the part is replayed and not counted: what it left counts as there when the
//! part begins.

use serde::Serialize;
use slabscope_trace::Time;

use crate::moment::{Clock, Moment};

/// A moment as a user names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Nanoseconds after the trace's start.
    SinceStart(i64),
    /// Nanoseconds after 1970 in UTC.
    Unix(i64),
}

/// The part of a trace to look at; all of it by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Its first moment.
    pub from: Option<Bound>,
    /// The first moment behind it.
    pub to: Option<Bound>,
}

/// The part of a trace that was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Part {
    /// Where it begins.
    pub from: Moment,
    /// Where it ends: what was asked for, or the last event.
    pub to: Moment,
    /// Whether events before it were left out.
    pub has_before: bool,
    /// Whether what comes after it was not read.
    pub has_after: bool,
}

impl Part {
    /// Whether it is the whole trace.
    pub fn is_whole(&self) -> bool {
        !self.has_before && !self.has_after
    }
}

/// The part in times of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The first moment, if it is not the start.
    pub(crate) from: Option<Time>,
    /// The first moment behind it, if it is not the end.
    pub(crate) to: Option<Time>,
}

impl Limits {
    /// `None` when a bound is by the wall clock and the trace does not have one.
    pub(crate) fn new(window: Window, clock: &Clock) -> Option<Limits> {
        let resolve = |bound: Option<Bound>| match bound {
            None => Some(None),
            Some(Bound::SinceStart(ns)) => clock.after_start(ns).map(Some),
            Some(Bound::Unix(ns)) => clock.at_unix(ns).map(Some),
        };
        Some(Limits { from: resolve(window.from)?, to: resolve(window.to)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slabscope_trace::{ClockSnapshot, WallTime};

    #[test]
    fn bounds_become_times_of_the_trace() {
        let mut clock = Clock::default();
        clock.sync(Time(100), None);
        let window = |from| Window { from: Some(from), to: None };
        let from = |limits: Option<Limits>| limits.and_then(|limits| limits.from);
        assert_eq!(from(Limits::new(window(Bound::SinceStart(5)), &clock)), Some(Time(105)));
        assert_eq!(Limits::new(window(Bound::Unix(5)), &clock), None);
        let wall = WallTime { seconds: 2, nanos: 7 };
        clock.sync(Time(200), Some(ClockSnapshot { trace: Time(200), mono: 0, wall }));
        let unix = Bound::Unix(2_000_000_010);
        assert_eq!(from(Limits::new(window(unix), &clock)), Some(Time(203)));
    }
}
