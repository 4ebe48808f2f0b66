//! What the drainer finds in the rings: records, and runs of them that are of one thread.

use crate::mapped::{Mapped, Zeroed};
use crate::ring::{CAPACITY, Rings};
use slabscope_wire::live::word::{self, Word};

/// A run is a thread, a time and an event at least.
const RUN_MIN: u64 = 3;

/// What stands at a place in a ring, below its head.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    /// A record.
    Record(Record),
    /// The place of one whose words are not there yet.
    Hole,
    /// Words that nobody pushed: two wrote at one place. Restartable sequences do not restart in a
    /// child that runs in its parent's memory, as that of `vfork`.
    Torn,
}

/// One record in a ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) thread: u32,
    pub(crate) ticks: u64,
    /// The index of the word after it.
    pub(crate) next: u64,
}

impl Record {
    /// What is at `at`, below the head of `ring`; `thread` is that of the record before it.
    #[inline]
    pub(crate) fn read(rings: &Rings, ring: usize, at: u64, thread: u32) -> Found {
        let (thread, at) = match word::decode(rings.word(ring, at)) {
            Word::Hole => return Found::Hole,
            Word::Run(thread) => (thread, at + 1),
            _ => (thread, at),
        };
        let (time, event) = (rings.word(ring, at), rings.word(ring, at + 1));
        match (word::decode(time), word::decode(event)) {
            (Word::Time(ticks), Word::Event { kind, .. }) => {
                let next = at + 2 + u64::from(kind.has_argument());
                Found::Record(Record { thread, ticks, next })
            }
            _ => Found::Torn,
        }
    }
}

/// Where the next record begins behind a hole at `at`, or `end`. Rings that have holes name the thread
/// of each record first.
pub(crate) fn after_hole(rings: &Rings, ring: usize, at: u64, end: u64) -> u64 {
    let begins = |&index: &u64| matches!(word::decode(rings.word(ring, index)), Word::Run(_));
    (at..end).find(begins).unwrap_or(end)
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
