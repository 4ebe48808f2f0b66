//! How many events there are, and how many there should be.

use slabscope_trace::alloc_free::{AllocFree, GenerationData};
use slabscope_trace::{Error, Event, Kind};

use crate::replay::{KINDS, judge, kind, read_error};
use crate::report::{Account, Completeness};
use crate::side_data::SideData;

/// The events of the heap so far, by kind, and what the generations say of themselves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) counts: [u64; KINDS],
    pub(crate) side: SideData,
    pub(crate) generations: u64,
}

impl Tally {
    #[inline]
    pub(super) fn take(&mut self, event: &Event) {
        match &event.kind {
            Kind::Experimental(event) => {
                if let Some(what) = AllocFree::from_event(event)
                    && let Some(count) = self.counts.get_mut(usize::from(kind(what)))
                {
                    *count += 1;
                }
            }
            Kind::Sync(sync) if !sync.experimental.batches.is_empty() => {
                self.generations += 1;
                let mut data = GenerationData::parse(&sync.experimental);
                self.side.take(self.generations, &mut data);
            }
            _ => {}
        }
    }

    /// What that comes to as `error` broke the trace off, or as a part is over.
    pub(super) fn account(&self, error: Option<Error>, is_over: bool) -> Account {
        let error = error.map(read_error);
        let completeness = match is_over {
            true => Completeness::NOT_READ,
            false => judge(&self.side, self.counts, error.is_some()),
        };
        let side_problems = Some(self.side.problem_count);
        Account { side_problems, ..Account::new(&completeness, error.as_ref()) }
    }
}
