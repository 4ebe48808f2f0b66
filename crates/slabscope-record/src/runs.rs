//! What the drainer finds in the rings: records, and runs of them that are of one thread.

use crate::mapped::{Mapped, Zeroed};
use crate::output::Tally;
use crate::ring::{CAPACITY, Rings};
use slabscope_wire::live::word::{self, Word};

/// A run is a thread, a time and an event at least.
const RUN_MIN: u64 = 3;

/// Why a walk along a ring ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// There is nothing more.
    End,
    /// What follows happened later.
    Later,
    /// The place of a record whose words are not there yet.
    Hole,
    /// Words that nobody pushed: two wrote at one place. Restartable sequences do not restart in a
    /// child that runs in its parent's memory, as that of `vfork`.
    Torn,
}

/// A walk along the words of a ring, record by record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    pub(crate) ring: usize,
    /// Where the next record begins.
    pub(crate) at: u64,
    /// Where the words end.
    pub(crate) end: u64,
    /// The thread of the last event.
    pub(crate) thread: u32,
    /// Events passed.
    pub(crate) records: u64,
    /// The time of the last event passed, in ticks; 0 before the first.
    pub(crate) ticks: u64,
}

impl Walk {
    /// Goes on to the next record that names its time, and calls `begin` with its thread, time and
    /// place; none of those is passed whose time is beyond `horizon`.
    #[inline]
    pub(crate) fn go(
        &mut self,
        rings: &Rings,
        horizon: u64,
        mut begin: impl FnMut(u32, u64, u64),
    ) -> Stop {
        let (mut at, mut thread) = (self.at, self.thread);
        // Whether the record at `self.at` has said its time.
        let mut has_time = self.ticks != 0;
        while at < self.end {
            match word::decode(rings.word(self.ring, at)) {
                Word::Event { kind, .. } if has_time => {
                    at += 1 + u64::from(kind.has_argument());
                    self.records += 1;
                    // Most come in a row, at one time.
                    let more = rings.objects(self.ring, at, self.end);
                    (at, self.records) = (at + more, self.records + more);
                    self.at = at;
                }
                Word::Time(ticks) if ticks > horizon => return Stop::Later,
                Word::Time(ticks) => {
                    begin(thread, ticks, self.at);
                    (self.thread, self.ticks, has_time) = (thread, ticks, true);
                    at += 1;
                }
                Word::Run(next) if at == self.at => {
                    (thread, has_time) = (next, false);
                    at += 1;
                }
                Word::Hole if at == self.at => return Stop::Hole,
                _ => return Stop::Torn,
            }
        }
        if at == self.at && at == self.end { Stop::End } else { Stop::Torn }
    }
}

/// Where the next record begins behind a hole at `at`, or `end`. Rings that have holes name the thread
/// of each record first.
pub(crate) fn after_hole(rings: &Rings, ring: usize, at: u64, end: u64) -> u64 {
    let begins = |&index: &u64| matches!(word::decode(rings.word(ring, index)), Word::Run(_));
    (at..end).find(begins).unwrap_or(end)
}

/// Adds what looks like an event among the words from `at` to `end` to `tally`. Of words that were pushed
/// over others only the last are there.
#[cold]
pub(crate) fn count_events(rings: &Rings, ring: usize, at: u64, end: u64, tally: &mut Tally) {
    for index in at.max(end.saturating_sub(CAPACITY))..end {
        if let Word::Event { kind, .. } = word::decode(rings.word(ring, index))
            && let Some(count) = tally.get_mut(kind as usize)
        {
            *count += 1;
        }
    }
}

/// Events of one thread that stand in a row in one ring.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Run {
    /// Ticks of the first event.
    pub(crate) start: u64,
    /// The words, by how many were pushed before them.
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) thread: u32,
    pub(crate) ring: u32,
}

// SAFETY: made of numbers, for which zero is valid.
unsafe impl Zeroed for Run {}

/// The runs of one round.
#[derive(Debug)]
pub(crate) struct Runs {
    kept: Mapped<Run>,
    count: usize,
}

impl Runs {
    /// Room for all that so many rings can hold; `None` when there is no memory.
    pub(crate) fn new(rings: usize) -> Option<Self> {
        Some(Runs { kept: Mapped::new(rings * (CAPACITY / RUN_MIN + 2) as usize)?, count: 0 })
    }

    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    pub(crate) fn get(&self, index: usize) -> Option<Run> {
        self.kept.get(index).copied().filter(|_| index < self.count)
    }

    /// Keeps a run that ends at `to`.
    pub(crate) fn keep(&mut self, run: Option<Run>, to: u64) {
        let Some(run) = run else { return };
        if let Some(slot) = self.kept.as_mut_slice().get_mut(self.count) {
            *slot = Run { to, ..run };
            self.count += 1;
        }
    }

    /// Sorts them by thread, and the runs of one by time.
    pub(crate) fn sort(&mut self) {
        if let Some(runs) = self.kept.as_mut_slice().get_mut(..self.count) {
            runs.sort_unstable_by_key(|run| (run.thread, run.start));
        }
    }

    /// Puts the rest of the run at `index`, whose first part is done with, where it belongs among
    /// those after it.
    pub(crate) fn put_back(&mut self, index: usize, rest: Run) {
        let Some(runs) = self.kept.as_mut_slice().get_mut(index..self.count) else { return };
        let is_before = |run: &&Run| run.thread == rest.thread && run.start < rest.start;
        let before = runs.iter().skip(1).take_while(is_before).count();
        if let Some(moved) = runs.get_mut(..=before) {
            moved.rotate_left(1);
            if let Some(last) = moved.last_mut() {
                *last = rest;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_run_goes_behind_those_that_began_before_it() {
        let run = |thread, start| Run { thread, start, ..Run::default() };
        let mut runs = Runs::new(1).unwrap();
        for (thread, start) in [(2, 5), (1, 50), (1, 10), (1, 20)] {
            runs.keep(Some(run(thread, start)), 0);
        }
        runs.sort();
        runs.put_back(0, run(1, 30));
        let order = [0, 1, 2, 3].map(|index| runs.get(index).unwrap());
        assert_eq!(order.map(|run| (run.thread, run.start)), [(1, 20), (1, 30), (1, 50), (2, 5)]);
        assert!(runs.get(4).is_none());
        runs.put_back(3, run(2, 7));
        assert_eq!(runs.get(3).unwrap().start, 7);
    }
}
