//! A doubly linked list of runs, by their first pages. Page 0 is never in use and ends the list.

use crate::arena::Arena;

/// The list.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SpanList {
    head: u32,
}

impl SpanList {
    pub(crate) const fn new() -> Self {
        SpanList { head: 0 }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.head == 0
    }

    pub(crate) fn first(self) -> Option<u32> {
        (self.head != 0).then_some(self.head)
    }

    /// All runs in it, first to last.
    pub(crate) fn iter(self, arena: &Arena) -> impl Iterator<Item = u32> {
        core::iter::successors(self.first(), |&page| match arena.span(page).next.get() {
            0 => None,
            next => Some(next),
        })
    }

    pub(crate) fn push(&mut self, arena: &Arena, page: u32) {
        let span = arena.span(page);
        span.next.set(self.head);
        span.previous.set(0);
        if self.head != 0 {
            arena.span(self.head).previous.set(page);
        }
        self.head = page;
    }

    /// Takes out a run that is in it.
    pub(crate) fn remove(&mut self, arena: &Arena, page: u32) {
        let span = arena.span(page);
        let (next, previous) = (span.next.get(), span.previous.get());
        if previous == 0 {
            self.head = next;
        } else {
            arena.span(previous).next.set(next);
        }
        if next != 0 {
            arena.span(next).previous.set(previous);
        }
    }
}
