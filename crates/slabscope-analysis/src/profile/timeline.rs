//! What was live over time, at no more than a few hundred moments.
//!
//! How long a trace is shows at its end only. So the moments begin close together, and whenever
//! there are too many, each two become one.

use serde::Serialize;
use slabscope_trace::Time;

use crate::report::Amount;

/// The most moments there are; even.
const POINTS_MAX: usize = 256;

/// What was live in a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Point {
    /// Its end, in nanoseconds since the trace's start.
    pub at_ns: i64,
    /// What was live at its end.
    pub live: Amount,
    /// The most bytes that were live in it.
    pub max_bytes: u64,
}

/// What was live over time.
#[derive(Debug)]
pub(crate) struct Timeline {
    start: Time,
    step_ns: i64,
    /// Up to which time the last point goes.
    end: Time,
    points: Vec<Point>,
}

impl Timeline {
    /// From this time on, with so much live.
    pub(crate) fn new(start: Time, live: Amount) -> Timeline {
        let step_ns = 1000;
        let end = Time(start.0.saturating_add(step_ns));
        let first = Point { at_ns: 0, live, max_bytes: live.bytes };
        Timeline { start, step_ns, end, points: vec![first] }
    }

    /// So much is live from this time on.
    #[inline]
    pub(crate) fn set(&mut self, time: Time, live: Amount) {
        if time >= self.end {
            self.advance(time);
        }
        if let Some(point) = self.points.last_mut() {
            point.live = live;
            point.max_bytes = point.max_bytes.max(live.bytes);
        }
    }

    #[cold]
    fn advance(&mut self, time: Time) {
        let since = time.0.saturating_sub(self.start.0).max(0);
        while since / self.step_ns >= POINTS_MAX as i64 {
            self.step_ns = self.step_ns.saturating_mul(2);
            let pairs = self.points.chunks(2).filter_map(|pair| {
                let last = *pair.last()?;
                let max_bytes = pair.iter().map(|point| point.max_bytes).max()?;
                Some(Point { max_bytes, ..last })
            });
            self.points = pairs.collect();
        }
        let needed = (since / self.step_ns) as usize + 1;
        let last = self.points.last().copied().unwrap_or_default();
        let idle = Point { max_bytes: last.live.bytes, ..last };
        self.points.resize(needed.max(self.points.len()), idle);
        let end = self.step_ns.saturating_mul(self.points.len() as i64);
        self.end = Time(self.start.0.saturating_add(end));
    }

    /// The points up to `end`, their times counted from `origin`.
    pub(crate) fn points(&self, origin: Time, end: Time) -> Vec<Point> {
        let mut all = Timeline { points: self.points.clone(), ..*self };
        if end >= all.end {
            all.advance(end);
        }
        let (mut points, step) = (all.points, all.step_ns);
        let mut at = self.start;
        for point in &mut points {
            at = Time(at.0.saturating_add(step)).min(end.max(self.start));
            point.at_ns = at.since(origin);
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(bytes: u64) -> Amount {
        Amount { objects: 1, bytes }
    }

    #[test]
    fn peaks_survive_however_long_the_trace_is() {
        let mut timeline = Timeline::new(Time(500), live(1));
        timeline.set(Time(600), live(7));
        timeline.set(Time(700), live(3));
        for second in 1..5_000 {
            timeline.set(Time(second * 1_000_000_000), live(second as u64));
        }
        let points = timeline.points(Time(0), Time(5_000_000_000_000));
        assert!((POINTS_MAX / 2..=POINTS_MAX + 1).contains(&points.len()), "{}", points.len());
        assert!(points.windows(2).all(|pair| pair[0].at_ns < pair[1].at_ns));
        assert!(points[0].max_bytes >= 7);
        let last = points.last().unwrap();
        assert_eq!((last.at_ns, last.live), (5_000_000_000_000, live(4_999)));
    }

    #[test]
    fn idle_times_keep_what_was_live() {
        let mut timeline = Timeline::new(Time(0), live(0));
        timeline.set(Time(10), live(9));
        timeline.set(Time(11), live(5));
        timeline.set(Time(100_000), live(6));
        let points = timeline.points(Time(0), Time(100_000));
        assert_eq!((points[0].live, points[0].max_bytes), (live(5), 9));
        assert_eq!((points[50].live, points[50].max_bytes), (live(5), 5));
        assert_eq!(points.last().map(|point| point.live), Some(live(6)));
    }

    #[test]
    fn times_at_the_end_of_all_times_do_no_harm() {
        let mut timeline = Timeline::new(Time(i64::MIN), live(0));
        timeline.set(Time(i64::MAX), live(1));
        timeline.set(Time(i64::MIN), live(2));
        assert!(timeline.points(Time(0), Time(i64::MAX)).len() <= POINTS_MAX + 1);
    }
}
