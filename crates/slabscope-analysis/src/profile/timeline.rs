//! What was live over time, at no more than a few hundred moments.
//!
//! How long a trace is shows at its end only. So the moments begin close together, and whenever
//! there are too many, each two become one. They lie on one grid for the whole trace, so that parts
//! which follow each other can be put together.

use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use slabscope_trace::Time;

use crate::report::Amount;
use crate::serde_time;

/// The most moments there are.
const POINTS_MAX: usize = 256;

/// What was live in a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Its end, in nanoseconds since the trace's start.
    pub at_ns: i64,
    /// What was live at its end.
    pub live: Amount,
    /// The most bytes that were live in it.
    pub max_bytes: u64,
}

/// What was live over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Timeline {
    /// Where the grid begins: the start of the trace.
    #[serde(with = "serde_time")]
    origin: Time,
    /// Stretches are 1,000 ns long, doubled so often.
    doublings: u32,
    /// Which stretch of the grid the first point is.
    first: i128,
    /// Where the last point's stretch ends.
    #[serde(with = "serde_time")]
    end: Time,
    /// Never empty.
    points: Vec<Point>,
}

/// Reads a timeline that was kept beside a trace, which may say anything: one that cannot have come about is
/// refused.
pub(super) fn possible<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Timeline>, D::Error> {
    let line = Option::<Timeline>::deserialize(from)?;
    let is_possible = line.as_ref().is_none_or(Timeline::is_possible);
    is_possible.then_some(line).ok_or_else(|| D::Error::custom("no trace has such a timeline"))
}

impl Timeline {
    /// From this time on, with so much live; `origin` is the start of the trace.
    pub(crate) fn new(origin: Time, start: Time, live: Amount) -> Timeline {
        let first = Point { at_ns: 0, live, max_bytes: live.bytes };
        let mut line = Timeline { origin, doublings: 0, first: 0, end: start, points: vec![first] };
        line.first = line.stretch(start);
        line.set_end();
        line
    }

    /// Another one on the same grid.
    pub(crate) fn begun(&self, start: Time, live: Amount) -> Timeline {
        Timeline::new(self.origin, start, live)
    }

    /// So much is live from this time on.
    #[inline]
    pub(crate) fn set(&mut self, time: Time, live: Amount) {
        if time >= self.end {
            self.advance(time);
        }
        self.note(live, live.bytes);
    }

    /// The last stretch ends with so much live, and had so many bytes live at some moment.
    #[inline]
    pub(super) fn note(&mut self, live: Amount, max_bytes: u64) {
        if let Some(point) = self.points.last_mut() {
            point.live = live;
            point.max_bytes = point.max_bytes.max(max_bytes);
        }
    }

    /// Where the last stretch ends.
    pub(super) fn end(&self) -> Time {
        self.end
    }

    /// Takes in what follows.
    pub(crate) fn append(&mut self, next: &Timeline) {
        let mut next = next.clone();
        while self.doublings < next.doublings {
            self.double();
        }
        while next.doublings < self.doublings {
            next.double();
        }
        while self.is_too_long(next.first + next.points.len() as i128 - 1) {
            self.double();
            next.double();
        }
        let between = usize::try_from(next.first - self.first).unwrap_or(0);
        self.idle_until(between + 1);
        for (place, point) in (between..).zip(&next.points) {
            match self.points.get_mut(place) {
                Some(known) => {
                    *known = Point { max_bytes: known.max_bytes.max(point.max_bytes), ..*point };
                }
                None => self.points.push(*point),
            }
        }
        self.set_end();
    }

    /// Whether it can have come about. Each time is less than 2^64 from each other, a stretch at most 2^74
    /// long: no sum or product leaves 128 bits, however many of them are put together.
    fn is_possible(&self) -> bool {
        const TIMES: i128 = 1 << 80;
        self.doublings < 64
            && (-TIMES..=TIMES).contains(&self.first.saturating_mul(self.step_ns()))
            && (1..=POINTS_MAX + 1).contains(&self.points.len())
    }

    #[cold]
    fn advance(&mut self, time: Time) {
        while self.is_too_long(self.stretch(time)) {
            self.double();
        }
        let needed = usize::try_from(self.stretch(time) - self.first).unwrap_or(0) + 1;
        self.idle_until(needed);
        self.set_end();
    }

    /// Whether there would be too many points, were the last one this stretch.
    fn is_too_long(&self, last: i128) -> bool {
        last - self.first >= POINTS_MAX as i128
    }

    fn idle_until(&mut self, len: usize) {
        let last = self.points.last().copied().unwrap_or_default();
        let idle = Point { max_bytes: last.live.bytes, ..last };
        self.points.resize(len.max(self.points.len()), idle);
    }

    /// Makes one stretch of each two.
    fn double(&mut self) {
        let mut doubled = Vec::<Point>::with_capacity(self.points.len() / 2 + 1);
        for (stretch, point) in (self.first..).zip(&self.points) {
            match doubled.last_mut().filter(|_| stretch & 1 == 1) {
                Some(last) => {
                    *last = Point { max_bytes: last.max_bytes.max(point.max_bytes), ..*point }
                }
                None => doubled.push(*point),
            }
        }
        self.points = doubled;
        (self.first, self.doublings) = (self.first >> 1, self.doublings + 1);
        self.set_end();
    }

    fn step_ns(&self) -> i128 {
        1000 << self.doublings
    }

    /// The stretch that a time lies in.
    fn stretch(&self, time: Time) -> i128 {
        (i128::from(time.0) - i128::from(self.origin.0)).div_euclid(self.step_ns())
    }

    /// Where the stretch begins that has this place on the grid.
    fn start_of(&self, stretch: i128) -> Time {
        let time = i128::from(self.origin.0) + stretch * self.step_ns();
        Time(i64::try_from(time).unwrap_or(i64::MAX))
    }

    fn set_end(&mut self) {
        self.end = self.start_of(self.first + self.points.len() as i128);
    }

    /// The points up to `end`, their times counted from the start of the trace.
    pub(crate) fn points(&self, end: Time) -> Vec<Point> {
        let mut all = self.clone();
        if end >= all.end {
            all.advance(end);
        }
        let mut points = std::mem::take(&mut all.points);
        for (stretch, point) in (all.first + 1..).zip(&mut points) {
            point.at_ns = all.start_of(stretch).min(end).since(all.origin).max(0);
        }
        points
    }
}

#[cfg(test)]
impl Timeline {
    /// One that a damaged index may hold.
    pub(super) fn doubled_often(self, doublings: u32) -> Timeline {
        Timeline { doublings, ..self }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn live(bytes: u64) -> Amount {
        Amount { objects: 1, bytes }
    }

    #[test]
    fn peaks_survive_however_long_the_trace_is() {
        let mut timeline = Timeline::new(Time(0), Time(500), live(1));
        timeline.set(Time(600), live(7));
        timeline.set(Time(700), live(3));
        for second in 1..5_000 {
            timeline.set(Time(second * 1_000_000_000), live(second as u64));
        }
        let points = timeline.points(Time(5_000_000_000_000));
        assert!((POINTS_MAX / 2..=POINTS_MAX + 1).contains(&points.len()), "{}", points.len());
        assert!(points.windows(2).all(|pair| pair[0].at_ns < pair[1].at_ns));
        assert!(points[0].max_bytes >= 7);
        let last = points.last().unwrap();
        assert_eq!((last.at_ns, last.live), (5_000_000_000_000, live(4_999)));
    }

    #[test]
    fn idle_times_keep_what_was_live() {
        let mut timeline = Timeline::new(Time(0), Time(0), live(0));
        timeline.set(Time(10), live(9));
        timeline.set(Time(11), live(5));
        timeline.set(Time(100_000), live(6));
        let points = timeline.points(Time(100_000));
        assert_eq!((points[0].live, points[0].max_bytes), (live(5), 9));
        assert_eq!((points[50].live, points[50].max_bytes), (live(5), 5));
        assert_eq!(points.last().map(|point| point.live), Some(live(6)));
    }

    #[test]
    fn times_at_the_end_of_all_times_do_no_harm() {
        let mut timeline = Timeline::new(Time(i64::MIN), Time(i64::MIN), live(0));
        timeline.set(Time(i64::MAX), live(1));
        timeline.set(Time(i64::MIN), live(2));
        assert!(timeline.points(Time(i64::MAX)).len() <= POINTS_MAX + 1);
    }

    /// A timeline as an index may hold it.
    fn kept() -> impl Strategy<Value = Timeline> {
        let shape = (0..70_u32, 0..127_u32, 1..=POINTS_MAX + 1);
        let times = (any::<i64>(), any::<i128>(), any::<i64>());
        (shape, times).prop_map(|((doublings, places, len), (origin, first, end))| Timeline {
            origin: Time(origin),
            doublings,
            first: first >> places,
            end: Time(end),
            points: vec![Point::default(); len],
        })
    }

    proptest! {
        #[test]
        fn whatever_is_possible_can_be_continued_and_shown(
            kept in prop::collection::vec(kept(), 1..9),
        ) {
            let kept: Vec<_> = kept.into_iter().filter(Timeline::is_possible).collect();
            if let Some(first) = kept.first() {
                prop_assert!(first.points(Time(i64::MAX)).len() <= POINTS_MAX + 1);
                let mut all = first.begun(first.end, live(1));
                prop_assert!(all.is_possible());
                kept.iter().for_each(|next| all.append(next));
                prop_assert!(all.points(Time(i64::MIN)).len() <= POINTS_MAX + 1);
            }
        }
    }

    #[test]
    fn parts_put_together_are_the_whole() {
        let times: Vec<i64> = (1..400_i64).map(|n| 300 + n * n * 37).collect();
        for cut in [1, 7, 100, 398] {
            let mut whole = Timeline::new(Time(0), Time(300), live(0));
            times.iter().for_each(|&time| whole.set(Time(time), live(time as u64 % 101)));
            let mut first = Timeline::new(Time(0), Time(300), live(0));
            times[..cut].iter().for_each(|&time| first.set(Time(time), live(time as u64 % 101)));
            let carried = live(times[cut - 1] as u64 % 101);
            let mut second = first.begun(Time(times[cut]), carried);
            times[cut..].iter().for_each(|&time| second.set(Time(time), live(time as u64 % 101)));
            first.append(&second);
            assert_eq!(first, whole, "{cut}");
        }
    }
}
