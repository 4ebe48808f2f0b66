//! The events of the heap, one after the other: what the time of a replay goes into.
//!
//! Allocations and frees whose slots were found ahead come in rows; a lens takes a row at once. Whatever
//! else comes goes by itself.

use std::ops::ControlFlow;

use slabscope_trace::alloc_free::AllocFree;
use slabscope_trace::{Row, ThreadId, Time, Visitor};

use super::kinds::{ALLOC, FREE, kind};
use super::{Lens, Now, Replay};
use crate::sites::Numbered;

impl<L: Lens> Visitor for Replay<L> {
    type Break = ();

    #[inline]
    fn thread(&mut self, thread: ThreadId) -> ControlFlow<()> {
        (self.thread, self.owner) = (thread, self.threads.known(thread));
        ControlFlow::Continue(())
    }

    #[inline]
    fn alloc(&mut self, time: Time, id: u64, ty: u64) -> ControlFlow<()> {
        self.alone(time, Some(AllocFree::HeapObjectAlloc { id, ty }))
    }

    #[inline]
    fn free(&mut self, time: Time, id: u64) -> ControlFlow<()> {
        self.alone(time, Some(AllocFree::HeapObjectFree { id }))
    }

    fn placed(&mut self, row: Row<'_>) -> ControlFlow<()> {
        let Some(owner) = self.owner.filter(|_| self.has_places && row.last() < self.boundary)
        else {
            return self.one_by_one(row);
        };
        debug_assert!(row.into_iter().all(|event| {
            let slot = self.heap.slot_of(event.id);
            slot.is_some_and(|slot| (slot.number, slot.class) == (event.slot, event.class))
        }));
        self.last = Some(row.last());
        let allocs = row.into_iter().filter(|event| event.is_alloc).count();
        self.counts[usize::from(ALLOC)] += allocs as u64;
        self.counts[usize::from(FREE)] += (row.len() - allocs) as u64;
        let now = self.lens.now();
        (now.thread, now.owner) = (self.thread.0, owner);
        self.lens.row(&mut self.heap, &mut self.sites, row);
        if self.lens.has_enough() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    #[inline]
    fn other(&mut self, time: Time, what: Option<AllocFree>) -> ControlFlow<()> {
        self.alone(time, what)
    }
}

impl<L: Lens> Replay<L> {
    /// A row as the single events it is made of.
    fn one_by_one(&mut self, row: Row<'_>) -> ControlFlow<()> {
        row.into_iter().try_for_each(|event| match event.is_alloc {
            true => self.alloc(event.time, event.id, event.ty),
            false => self.free(event.time, event.id),
        })
    }

    /// An event that is in no row.
    #[inline(never)]
    fn alone(&mut self, time: Time, what: Option<AllocFree>) -> ControlFlow<()> {
        self.begin_event(time)?;
        let Some(what) = what else {
            self.other += 1;
            return ControlFlow::Continue(());
        };
        let owner = self.threads.at(self.thread, time);
        self.owner = self.threads.known(self.thread);
        let mut site = Numbered::UNKNOWN;
        if let AllocFree::HeapObject { ty, .. } | AllocFree::HeapObjectAlloc { ty, .. } = what {
            site = self.sites.of_object(ty);
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
