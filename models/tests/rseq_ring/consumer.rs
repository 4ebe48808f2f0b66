//! The drainer: takes the words that are committed, and holds them against what a drainer relies on.

use std::collections::BTreeMap;

use slabscope_wire::alloc_free::EventKind;
use slabscope_wire::live::word::{self, Word};

use crate::caller::{NUMBERS, Thread};
use crate::layout::RINGS;

/// Rounds that it makes beside the last one.
const ROUNDS: u32 = 2;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Consumer {
    places: [Place; RINGS],
    rounds: u32,
    /// The moment of the round under way.
    asked: Option<u64>,
    /// What comes from now on is not older.
    horizon: u64,
    /// The time of each event, by its number.
    seen: BTreeMap<u64, u64>,
}

/// Where it is in a ring, and what holds for the next event there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Place {
    taken: u32,
    thread: u32,
    ticks: u64,
    has_time: bool,
}

impl Consumer {
    pub(crate) fn new(before: u32) -> Consumer {
        let place = Place { taken: before, ..Place::default() };
        Consumer {
            places: [place.clone(), place],
            rounds: 0,
            asked: None,
            horizon: 0,
            seen: BTreeMap::new(),
        }
    }

    pub(crate) fn has_rounds(&self) -> bool {
        self.rounds < ROUNDS
    }

    pub(crate) fn ask(&mut self, moment: u64) {
        self.asked = Some(moment);
    }

    pub(crate) fn take_moment(&mut self) -> Option<u64> {
        self.asked.take()
    }

    pub(crate) fn end_round(&mut self, moment: u64) {
        (self.horizon, self.rounds) = (moment, self.rounds + 1);
    }

    /// Takes the words of a ring up to its head.
    pub(crate) fn take(
        &mut self,
        ring: usize,
        head: u32,
        capacity: u64,
        word: impl Fn(u32) -> u64,
    ) -> Result<(), String> {
        let place = &mut self.places[ring];
        if u64::from(head.wrapping_sub(place.taken)) > capacity {
            return Err("the head went back, or further than there is room".into());
        }
        let mut next = || {
            if place.taken == head {
                return Err("a record that is cut".to_owned());
            }
            place.taken = place.taken.wrapping_add(1);
            Ok(word::decode(word(place.taken.wrapping_sub(1))))
        };
        let mut words = Vec::new();
        while let Ok(word) = next() {
            words.push(word);
        }
        self.read(ring, &words)
    }

    fn read(&mut self, ring: usize, words: &[Word]) -> Result<(), String> {
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let place = &mut self.places[ring];
            match word {
                Word::Run(thread) if thread == place.thread => {
                    return Err("a run of the thread that pushed last".into());
                }
                Word::Run(thread) => (place.thread, place.has_time) = (thread, false),
                Word::Time(ticks) if ticks < self.horizon => {
                    return Err("an event from before the horizon".into());
                }
                Word::Time(ticks) if ticks <= place.ticks => return Err("times fall".into()),
                Word::Time(ticks) => (place.ticks, place.has_time) = (ticks, true),
                Word::Event { .. } if !place.has_time => {
                    return Err("an event without a time".into());
                }
                Word::Event { kind, id, site: 7 } => {
                    let is_whole = match kind {
                        EventKind::SpanAlloc => words.next() == Some(&Word::Argument(id * 3)),
                        kind => kind == EventKind::ObjectAlloc,
                    };
                    if !is_whole {
                        return Err("a torn record".into());
                    }
                    self.event(ring, id)?;
                }
                other => return Err(format!("{other:?} where a record should be")),
            }
        }
        Ok(())
    }

    fn event(&mut self, ring: usize, number: u64) -> Result<(), String> {
        let place = &self.places[ring];
        if u64::from(place.thread) != number / NUMBERS + 1 {
            return Err("an event of another thread".into());
        }
        if place.ticks < self.horizon {
            return Err("an event shares a time from before the horizon".into());
        }
        match self.seen.insert(number, place.ticks) {
            None => Ok(()),
            Some(_) => Err("an event is there twice".into()),
        }
    }

    /// When all has been taken: everything is there, at its time, and in each thread's order.
    pub(crate) fn check_end(&self, threads: &[Thread]) -> Result<(), String> {
        let mut pushed = BTreeMap::new();
        for thread in threads {
            pushed.extend(&thread.pushed);
        }
        for (number, ticks) in &pushed {
            match self.seen.get(number) {
                None => return Err(format!("event {number} is lost")),
                Some(seen) if seen != ticks => {
                    return Err(format!("event {number} at {seen}, its thread said {ticks}"));
                }
                Some(_) => {}
            }
        }
        if self.seen.len() > pushed.len() {
            return Err("an event that nobody pushed".into());
        }
        for thread in 0..2 {
            let first = thread * NUMBERS;
            let own = self.seen.range(first..first + NUMBERS / 2).map(|(_, ticks)| ticks);
            if !own.is_sorted() {
                return Err(format!("the events of thread {thread} are not in its order"));
            }
        }
        Ok(())
    }
}
