//! Figures by thread.

use crate::moment::Clock;
use crate::report::{Amount, ThreadRow};
use crate::threads::{Owner, Threads};

/// What one thread did.
#[derive(Clone, Copy, Debug, Default)]
struct Did {
    allocated: Amount,
    freed: Amount,
    freed_of_others: Amount,
    freed_by_others: Amount,
}

/// What each thread did, by its index.
#[derive(Debug, Default)]
pub(crate) struct ThreadTally(Vec<Did>);

impl ThreadTally {
    #[inline]
    pub(crate) fn allocated(&mut self, by: Owner, bytes: u64) {
        if let Some(did) = self.get(by) {
            did.allocated.add(bytes);
        }
    }

    #[inline]
    pub(crate) fn freed(&mut self, by: Owner, owner: Owner, bytes: u64) {
        // Who allocated before the trace is not known to be another.
        let is_others = owner != by && owner != Owner::BEFORE;
        if let Some(did) = self.get(by) {
            did.freed.add(bytes);
            if is_others {
                did.freed_of_others.add(bytes);
            }
        }
        if is_others && let Some(owner) = self.get(owner) {
            owner.freed_by_others.add(bytes);
        }
    }

    #[inline]
    fn get(&mut self, owner: Owner) -> Option<&mut Did> {
        let index = owner.index()?;
        if index >= self.0.len() {
            self.0.resize(index + 1, Did::default());
        }
        self.0.get_mut(index)
    }

    /// The threads that did anything.
    pub(crate) fn into_rows(self, threads: &Threads, clock: &Clock) -> Vec<ThreadRow> {
        let rows = threads.all().iter().zip(self.0).filter(|(_, did)| {
            let amounts = [did.allocated, did.freed, did.freed_by_others];
            amounts.iter().any(|amount| amount.objects > 0)
        });
        rows.map(|(thread, did)| ThreadRow {
            id: thread.id,
            name: thread.name.clone(),
            start: thread.start.map(|time| clock.moment(time)),
            end: thread.end.map(|time| clock.moment(time)),
            allocated: did.allocated,
            freed: did.freed,
            freed_of_others: did.freed_of_others,
            freed_by_others: did.freed_by_others,
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slabscope_trace::{ThreadId, Time};

    #[test]
    fn what_others_did_is_told_apart() {
        let mut threads = Threads::default();
        let [one, other, _idle] = [7, 8, 9].map(|id| threads.at(ThreadId(id), Time(0)));
        let mut tally = ThreadTally::default();
        tally.allocated(one, 8);
        tally.freed(other, one, 8);
        tally.freed(other, Owner::BEFORE, 8);
        let rows = tally.into_rows(&threads, &Clock::default());
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].id, rows[0].freed_by_others.objects), (7, 1));
        assert_eq!((rows[1].freed.objects, rows[1].freed_of_others.objects), (2, 1));
    }
}
