//! The events of the heap, one after the other: what the time of a replay goes into.
//!
//! Allocations and frees whose slots are quickly found are gathered in rows; a lens takes a row at once.
//! Whatever else comes goes by itself, after the row before it.

use std::ops::ControlFlow;

use slabscope_trace::alloc_free::AllocFree;
use slabscope_trace::{ThreadId, Time, Visitor};

use super::kinds::{ALLOC, FREE, kind};
use super::row::{ROW_MAX, RowEvent};
use super::{Lens, Now, Replay};
use crate::sites::Numbered;
use crate::threads::Owner;

impl<L: Lens> Visitor for Replay<L> {
    type Break = ();

    #[inline]
    fn thread(&mut self, thread: ThreadId) -> ControlFlow<()> {
        let flow = self.end_row();
        (self.thread, self.owner) = (thread, self.threads.known(thread));
        flow
    }

    #[inline]
    fn alloc(&mut self, time: Time, id: u64, ty: u64) -> ControlFlow<()> {
        let site = self.sites.at(ty);
        // What is said of unknown sites is rare.
        if (site != Numbered::UNKNOWN || ty == 0)
            && let Some(flow) = self.in_row(time, id, site, true)
        {
            return flow;
        }
        self.alone(time, Some(AllocFree::HeapObjectAlloc { id, ty }))
    }

    #[inline]
    fn free(&mut self, time: Time, id: u64) -> ControlFlow<()> {
        match self.in_row(time, id, Numbered::UNKNOWN, false) {
            Some(flow) => flow,
            None => self.alone(time, Some(AllocFree::HeapObjectFree { id })),
        }
    }

    #[inline]
    fn other(&mut self, time: Time, what: Option<AllocFree>) -> ControlFlow<()> {
        self.alone(time, what)
    }
}

impl<L: Lens> Replay<L> {
    /// Takes the event into the row; `None` if it cannot be there.
    #[inline]
    fn in_row(
        &mut self,
        time: Time,
        id: u64,
        site: Numbered,
        is_alloc: bool,
    ) -> Option<ControlFlow<()>> {
        if time >= self.boundary || self.owner.is_none() {
            return None;
        }
        let slot = self.heap.slot_of(id)?;
        self.row.push(RowEvent { time, id, slot, site, is_alloc });
        if self.row.len() == ROW_MAX {
            Some(self.end_row())
        } else {
            Some(ControlFlow::Continue(()))
        }
    }

    /// Shows the lens the events of the row.
    pub(super) fn end_row(&mut self) -> ControlFlow<()> {
        let Some(last) = self.row.last() else { return ControlFlow::Continue(()) };
        self.last = Some(last.time);
        let allocs = self.row.iter().filter(|event| event.is_alloc).count();
        self.counts[usize::from(ALLOC)] += allocs as u64;
        self.counts[usize::from(FREE)] += (self.row.len() - allocs) as u64;
        let now = self.lens.now();
        (now.thread, now.owner) = (self.thread.0, self.owner.unwrap_or(Owner::BEFORE));
        self.lens.row(&mut self.heap, &self.sites, &self.row);
        self.row.clear();
        if self.lens.has_enough() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// An event that is in no row.
    #[inline(never)]
    fn alone(&mut self, time: Time, what: Option<AllocFree>) -> ControlFlow<()> {
        self.end_row()?;
        self.begin_event(time)?;
        let Some(what) = what else {
            self.other += 1;
            return ControlFlow::Continue(());
        };
        let owner = self.threads.at(self.thread, time);
        self.owner = self.threads.known(self.thread);
        let mut site = Numbered::UNKNOWN;
        if let AllocFree::HeapObject { ty, .. } | AllocFree::HeapObjectAlloc { ty, .. } = what {
            site = self.sites.at(ty);
            self.unknown_sites += u64::from(ty != 0 && site == Numbered::UNKNOWN);
        }
        let kind = kind(what);
        self.counts[usize::from(kind)] += 1;
        let id = what.id();
        *self.lens.now() = Now { time, thread: self.thread.0, owner, site, kind, id };
        self.lens.event(&self.sites);
        self.heap.apply(what, &mut self.lens);
        if self.lens.has_enough() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
