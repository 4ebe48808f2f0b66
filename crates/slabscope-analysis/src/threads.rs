//! The threads of a trace: who had which number when.
//!
//! The system uses thread numbers again, so a number alone does not tell a thread. Where the trace
//! says when each thread began, an event belongs to the last one of its number that had begun.

use std::collections::HashMap;
use std::num::NonZeroU32;

use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};
use slabscope_trace::alloc_free::ThreadEntry;
use slabscope_trace::{ThreadId, Time};

/// A thread of the trace, by the order in which they were met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Owner(NonZeroU32);

impl Owner {
    /// Whoever allocated before the trace began.
    pub(crate) const BEFORE: Owner = Owner(NonZeroU32::MAX);

    /// The thread with this index.
    pub(crate) fn thread(index: usize) -> Owner {
        let number = u32::try_from(index).unwrap_or(u32::MAX - 2);
        Owner(NonZeroU32::MIN.saturating_add(number))
    }

    /// A number that most threads differ in.
    #[inline]
    pub(crate) fn hint(self) -> u32 {
        self.0.get()
    }

    /// Its index; `None` for whoever came before.
    pub(crate) fn index(self) -> Option<usize> {
        (self != Owner::BEFORE).then_some(self.0.get() as usize - 1)
    }
}

/// What is known of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Thread {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) start: Option<Time>,
    pub(crate) end: Option<Time>,
}

/// The threads so far, in the order they were met.
#[derive(Debug)]
pub(crate) struct Threads {
    threads: Vec<Thread>,
    /// By number, the threads that had it and when they began, in that order.
    by_id: HashMap<i64, Vec<(Time, usize)>, RandomState>,
    /// The last answers, by the end of the number: most events follow others of the same thread.
    recent: [Option<(i64, Owner)>; RECENT],
}

/// How many answers are remembered.
const RECENT: usize = 64;

impl Default for Threads {
    fn default() -> Self {
        Threads { threads: Vec::new(), by_id: HashMap::default(), recent: [None; RECENT] }
    }
}

/// The start of a thread of which nothing is known but its number.
const ANY_TIME: Time = Time(i64::MIN);

impl Threads {
    /// These threads, by index.
    pub(crate) fn kept(threads: Vec<Thread>) -> Threads {
        let mut by_id = HashMap::<i64, Vec<(Time, usize)>, RandomState>::default();
        for (index, thread) in threads.iter().enumerate() {
            by_id.entry(thread.id).or_default().push((thread.start.unwrap_or(ANY_TIME), index));
        }
        by_id.values_mut().for_each(|known| known.sort());
        Threads { threads, by_id, ..Threads::default() }
    }

    /// All of them, by index.
    pub(crate) fn all(&self) -> &[Thread] {
        &self.threads
    }

    /// Takes in what a generation says of its threads.
    pub(crate) fn learn(&mut self, entries: Vec<ThreadEntry>) {
        self.recent = [None; RECENT];
        for entry in entries {
            // The file has any 64 bits; the reader's numbers are signed.
            let id = entry.id as i64;
            let known = self.by_id.entry(id).or_default();
            let index = match known.iter().position(|&(start, _)| start == entry.start) {
                Some(place) => known[place].1,
                // The thread had events before the trace said when it began.
                None if known.first().is_some_and(|&(start, _)| start == ANY_TIME) => {
                    known[0].0 = entry.start;
                    known[0].1
                }
                None => {
                    let place = known.partition_point(|&(start, _)| start < entry.start);
                    known.insert(place, (entry.start, self.threads.len()));
                    self.threads.push(Thread { id, ..Thread::default() });
                    self.threads.len() - 1
                }
            };
            let thread = &mut self.threads[index];
            (thread.start, thread.end) = (Some(entry.start), entry.end.or(thread.end));
            if !entry.name.is_empty() {
                thread.name = entry.name;
            }
        }
    }

    /// The thread that has this number at this time.
    #[inline]
    pub(crate) fn at(&mut self, id: ThreadId, time: Time) -> Owner {
        match self.recent[id.0 as usize % RECENT] {
            Some((recent, owner)) if recent == id.0 => owner,
            _ => self.find(id, time),
        }
    }

    /// The thread that has this number whatever the time, if it is remembered.
    #[inline]
    pub(crate) fn known(&self, id: ThreadId) -> Option<Owner> {
        let (recent, owner) = self.recent[id.0 as usize % RECENT]?;
        (recent == id.0).then_some(owner)
    }

    fn find(&mut self, id: ThreadId, time: Time) -> Owner {
        let known = self.by_id.entry(id.0).or_default();
        let index = match known.as_slice() {
            [] => {
                known.push((ANY_TIME, self.threads.len()));
                self.threads.push(Thread { id: id.0, ..Thread::default() });
                self.threads.len() - 1
            }
            // Clocks are read at times a little apart, so the first one has what is before its
            // start.
            [(_, only)] => *only,
            several => {
                let begun = several.partition_point(|&(start, _)| start <= time);
                // Not remembered: the next event of this number may be the next thread's.
                return Owner::thread(several[begun.saturating_sub(1)].1);
            }
        };
        let owner = Owner::thread(index);
        self.recent[id.0 as usize % RECENT] = Some((id.0, owner));
        owner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: u64, start: i64, name: &str) -> ThreadEntry {
        ThreadEntry { id, start: Time(start), end: None, name: name.to_owned() }
    }

    #[test]
    fn owners_give_their_index_back() {
        assert_eq!(Owner::thread(0).index(), Some(0));
        assert_eq!(Owner::thread(7).index(), Some(7));
        assert_eq!(Owner::BEFORE.index(), None);
        assert_ne!(Owner::thread(usize::MAX), Owner::BEFORE);
    }

    #[test]
    fn a_number_used_again_is_another_thread() {
        let mut threads = Threads::default();
        threads.learn(vec![entry(7, 100, "late"), entry(7, 10, "early")]);
        let (early, late) = (threads.at(ThreadId(7), Time(50)), threads.at(ThreadId(7), Time(100)));
        assert_ne!(early, late);
        assert_eq!(threads.at(ThreadId(7), Time(5)), early);
        let name = |owner: Owner| threads.all()[owner.index().unwrap()].name.as_str();
        assert_eq!((name(early), name(late)), ("early", "late"));
    }

    #[test]
    fn a_thread_gets_its_name_later() {
        let mut threads = Threads::default();
        let owner = threads.at(ThreadId(7), Time(50));
        threads.learn(vec![entry(7, 10, "worker")]);
        threads.learn(vec![entry(7, 10, "")]);
        assert_eq!(threads.at(ThreadId(7), Time(60)), owner);
        assert_eq!((threads.all().len(), threads.all()[0].name.as_str()), (1, "worker"));
    }
}
