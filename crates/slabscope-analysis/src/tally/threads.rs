//! Figures by thread.
//!
//! The system uses thread numbers again, so a number alone does not tell a thread. Where the trace
//! says when each thread began, an event belongs to the last one of its number that had begun.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use slabscope_trace::alloc_free::ThreadEntry;
use slabscope_trace::{ThreadId, Time};

use crate::heap::Owner;
use crate::moment::Clock;
use crate::report::{Amount, ThreadRow};

/// One thread.
#[derive(Debug, Default)]
struct Thread {
    id: i64,
    name: String,
    start: Option<Time>,
    end: Option<Time>,
    allocated: Amount,
    freed: Amount,
    freed_of_others: Amount,
    freed_by_others: Amount,
}

/// The threads so far, in the order they were met.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    threads: Vec<Thread>,
    /// By number, the threads that had it and when they began, in that order.
    by_id: HashMap<i64, Vec<(Time, usize)>, RandomState>,
}

/// The start of a thread of which nothing is known but its number.
const ANY_TIME: Time = Time(i64::MIN);

impl Threads {
    /// Takes in what a generation says of its threads.
    pub(crate) fn learn(&mut self, entries: Vec<ThreadEntry>) {
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
                several[begun.saturating_sub(1)].1
            }
        };
        Owner::thread(index)
    }

    #[inline]
    pub(crate) fn allocated(&mut self, by: Owner, bytes: u64) {
        if let Some(thread) = self.get(by) {
            thread.allocated.add(bytes);
        }
    }

    #[inline]
    pub(crate) fn freed(&mut self, by: Owner, owner: Owner, bytes: u64) {
        // Who allocated before the trace is not known to be another.
        let is_others = owner != by && owner != Owner::BEFORE;
        if let Some(thread) = self.get(by) {
            thread.freed.add(bytes);
            if is_others {
                thread.freed_of_others.add(bytes);
            }
        }
        if is_others && let Some(owner) = self.get(owner) {
            owner.freed_by_others.add(bytes);
        }
    }

    #[inline]
    fn get(&mut self, owner: Owner) -> Option<&mut Thread> {
        self.threads.get_mut(owner.index()?)
    }

    /// The threads that did anything.
    pub(crate) fn into_rows(self, clock: &Clock) -> Vec<ThreadRow> {
        let did = |thread: &Thread| {
            let amounts = [thread.allocated, thread.freed, thread.freed_by_others];
            amounts.iter().any(|amount| amount.objects > 0)
        };
        let row = |thread: Thread| ThreadRow {
            id: thread.id,
            name: thread.name,
            start: thread.start.map(|time| clock.moment(time)),
            end: thread.end.map(|time| clock.moment(time)),
            allocated: thread.allocated,
            freed: thread.freed,
            freed_of_others: thread.freed_of_others,
            freed_by_others: thread.freed_by_others,
        };
        self.threads.into_iter().filter(did).map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: u64, start: i64, name: &str) -> ThreadEntry {
        ThreadEntry { id, start: Time(start), end: None, name: name.to_owned() }
    }

    #[test]
    fn a_number_used_again_is_another_thread() {
        let mut threads = Threads::default();
        threads.learn(vec![entry(7, 100, "late"), entry(7, 10, "early")]);
        let (early, late) = (threads.at(ThreadId(7), Time(50)), threads.at(ThreadId(7), Time(100)));
        assert_ne!(early, late);
        assert_eq!(threads.at(ThreadId(7), Time(5)), early);
        threads.allocated(early, 8);
        threads.freed(late, early, 8);
        let rows = threads.into_rows(&Clock::default());
        assert_eq!(rows.len(), 2);
        for row in rows {
            assert_eq!(row.allocated.objects, u64::from(row.name == "early"));
            assert_eq!(row.freed_by_others.objects, u64::from(row.name == "early"));
            assert_eq!(row.freed_of_others.objects, u64::from(row.name == "late"));
        }
    }

    #[test]
    fn a_thread_gets_its_name_later() {
        let mut threads = Threads::default();
        let owner = threads.at(ThreadId(7), Time(50));
        threads.learn(vec![entry(7, 10, "worker")]);
        threads.learn(vec![entry(7, 10, "")]);
        assert_eq!(threads.at(ThreadId(7), Time(60)), owner);
        threads.freed(owner, Owner::BEFORE, 8);
        let rows = threads.into_rows(&Clock::default());
        assert_eq!((rows.len(), rows[0].name.as_str()), (1, "worker"));
        assert_eq!(rows[0].freed_of_others.objects, 0);
    }
}
