//! Looking at every event of the heap: what reports go through for each allocation there was.

use std::ops::ControlFlow;

use super::{ExperimentalRun, Feed, Row, later, meet};
use crate::alloc_free::AllocFree;
use crate::id::{ThreadId, Time};

/// What is shown every event of the heap, in order.
pub trait Visitor {
    /// What it may break off with.
    type Break;

    /// The next events are of this thread. It may be told of a thread again.
    fn thread(&mut self, thread: ThreadId) -> ControlFlow<Self::Break>;
    /// The object `id` was allocated; `ty` is its type, or in our traces its site, and 0 for none.
    fn alloc(&mut self, time: Time, id: u64, ty: u64) -> ControlFlow<Self::Break>;
    /// The object `id` is about to be freed.
    fn free(&mut self, time: Time, id: u64) -> ControlFlow<Self::Break>;
    /// Objects whose places a [`Placer`](super::Placer) found are allocated and freed, one after the other.
    /// The row is taken whole even where this breaks off.
    #[inline]
    fn placed(&mut self, row: Row<'_>) -> ControlFlow<Self::Break> {
        row.into_iter().try_for_each(|event| match event.is_alloc {
            true => self.alloc(event.time, event.id, event.ty),
            false => self.free(event.time, event.id),
        })
    }
    /// Any other event; `None` for one of an experiment other than [`AllocFree`].
    fn other(&mut self, time: Time, what: Option<AllocFree>) -> ControlFlow<Self::Break>;
}

impl ExperimentalRun<'_> {
    /// Shows `visitor` the events until it breaks off or the run ends. It is the fastest way to look at
    /// every allocation.
    #[inline]
    pub fn visit<V: Visitor>(&mut self, visitor: &mut V) -> ControlFlow<V::Break> {
        let Feed { events, at, contexts } = &mut *self.feed;
        let plain = events.plain.get(*at..).unwrap_or_default();
        let (mut rest, mut last, mut lane) = (plain, *self.last, None);
        let mut flow = ControlFlow::Continue(());
        while let Some((next, behind)) = rest.split_first().filter(|(next, _)| !next.is_checked()) {
            // Events of one thread come in rows.
            if lane != Some(next.lane) {
                lane = Some(next.lane);
                let index = usize::from(next.lane);
                let context = match contexts.get(index) {
                    Some(Some(context)) => *context,
                    _ => meet(contexts, index, self.generation, self.threads, self.order),
                };
                flow = visitor.thread(context.thread);
                if flow.is_break() {
                    break;
                }
            }
            flow = if next.is_placed() {
                let row = Row::first_of(rest, last);
                rest = rest.get(row.len()..).unwrap_or_default();
                last = row.last();
                visitor.placed(row)
            } else {
                rest = behind;
                last = later(next.time, last);
                next.show(last, visitor)
            };
            if flow.is_break() {
                break;
            }
        }
        *at += plain.len() - rest.len();
        *self.last = last;
        flow
    }

    /// Tells `each` the time, the thread and the event, `None` for one of an experiment other than
    /// [`AllocFree`], until it breaks off or the run ends.
    #[inline]
    pub fn each_alloc_free<B>(
        &mut self,
        each: impl FnMut(Time, ThreadId, Option<AllocFree>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.visit(&mut Each { each, thread: ThreadId::NONE })
    }
}

/// Tells a closure.
struct Each<F> {
    each: F,
    thread: ThreadId,
}

impl<B, F> Visitor for Each<F>
where
    F: FnMut(Time, ThreadId, Option<AllocFree>) -> ControlFlow<B>,
{
    type Break = B;

    #[inline]
    fn thread(&mut self, thread: ThreadId) -> ControlFlow<B> {
        self.thread = thread;
        ControlFlow::Continue(())
    }

    #[inline]
    fn alloc(&mut self, time: Time, id: u64, ty: u64) -> ControlFlow<B> {
        (self.each)(time, self.thread, Some(AllocFree::HeapObjectAlloc { id, ty }))
    }

    #[inline]
    fn free(&mut self, time: Time, id: u64) -> ControlFlow<B> {
        (self.each)(time, self.thread, Some(AllocFree::HeapObjectFree { id }))
    }

    #[inline]
    fn other(&mut self, time: Time, what: Option<AllocFree>) -> ControlFlow<B> {
        (self.each)(time, self.thread, what)
    }
}
