//! Stacks: a power of two of bytes above a guard page, kept by size for the next who asks.

use core::ptr::NonNull;

use slabscope_os::{KERNEL_PAGE, fatal, map};

use crate::PAGE_SIZE;
use crate::arena::Arena;
use crate::heap::Heap;
use crate::observer::Observer;
use crate::span::State;
use crate::span_list::SpanList;

/// The smallest stack, in bytes: what a signal handler needs, and a little.
const SIZE_MIN: usize = 16 << 10;

/// The largest, in bytes.
const SIZE_MAX: usize = 1 << 30;

/// Sizes there are.
const ORDERS: usize = (SIZE_MAX.ilog2() - SIZE_MIN.ilog2() + 1) as usize;

/// Bytes of idle stacks kept for each size.
const KEPT_BYTES: usize = 8 << 20;

/// Pages below a stack that are its guard's.
const GUARD_PAGES: u32 = 1;

const _: () = assert!(GUARD_PAGES as usize * PAGE_SIZE >= KERNEL_PAGE);

/// A stack in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackMemory {
    /// Its lowest address; an access below it faults.
    pub base: NonNull<u8>,
    /// Its size in bytes, a power of two.
    pub size: usize,
}

/// Stacks that nobody uses, by size.
#[derive(Debug)]
pub(crate) struct IdleStacks {
    orders: [(SpanList, usize); ORDERS],
}

impl IdleStacks {
    pub(crate) const fn new() -> Self {
        IdleStacks { orders: [const { (SpanList::new(), 0) }; ORDERS] }
    }

    fn take(&mut self, arena: &Arena, size: usize) -> Option<u32> {
        let (list, count) = self.orders.get_mut(order_of(size))?;
        let page = list.first()?;
        list.remove(arena, page);
        *count -= 1;
        Some(page)
    }

    /// Keeps a stack, if there are not enough of its size.
    fn keep(&mut self, arena: &Arena, page: u32, size: usize) -> bool {
        let Some((list, count)) = self.orders.get_mut(order_of(size)) else { return false };
        if *count * size >= KEPT_BYTES {
            return false;
        }
        list.push(arena, page);
        *count += 1;
        true
    }

    /// All of them, by the first pages of their spans.
    pub(crate) fn pages(&self, arena: &Arena) -> impl Iterator<Item = u32> {
        self.orders.iter().flat_map(|(list, _)| list.iter(arena))
    }
}

/// `size` is a power of two from SIZE_MIN on.
fn order_of(size: usize) -> usize {
    (size.trailing_zeros() - SIZE_MIN.trailing_zeros()) as usize
}

/// The stack in the span that begins at `page`.
pub(crate) fn stack_in(arena: &Arena, page: u32) -> StackMemory {
    let pages = arena.span(page).pages.get().saturating_sub(GUARD_PAGES);
    StackMemory { base: arena.address(page + GUARD_PAGES), size: pages as usize * PAGE_SIZE }
}

impl Heap {
    /// A stack of at least `size` bytes, with what its last user left in it; `None` without memory,
    /// or above 1 GiB.
    pub fn alloc_stack(&self, size: usize, observer: &mut impl Observer) -> Option<StackMemory> {
        if size > SIZE_MAX {
            return None;
        }
        let size = size.max(SIZE_MIN).next_power_of_two();
        let arena = self.arena()?;
        let idle = self.idle_stacks.lock().take(arena, size);
        let page = match idle {
            Some(page) => page,
            None => self.new_stack(arena, size, observer)?,
        };
        arena.span(page).set_state(State::Stack);
        Some(stack_in(arena, page))
    }

    /// Takes a stack back.
    ///
    /// # Safety
    /// It came from this heap, and nobody stands on it or will.
    pub unsafe fn free_stack(&self, stack: StackMemory, observer: &mut impl Observer) {
        let Some(arena) = self.arena() else { return };
        let page = arena.page_of(stack.base.addr().get()).unwrap_or(0).saturating_sub(GUARD_PAGES);
        if arena.span(page).state() != State::Stack || stack_in(arena, page) != stack {
            fatal(&["a stack was freed that is not one of this heap, or was freed before"]);
        }
        // Nobody looks at the state of a span in use that is not his, so no lock is needed for it.
        arena.span(page).set_state(State::StackIdle);
        if !self.idle_stacks.lock().keep(arena, page, stack.size) {
            self.free_stack_span(arena, page, observer);
        }
    }

    /// The address after the end of the stack in use that `address` lies in; `None` if it is in none.
    pub fn stack_end(&self, address: usize) -> Option<usize> {
        let arena = self.arena()?;
        let page = arena.page_of(address)?;
        // What this says of a page that is in no stack may be old.
        let first = arena.first_of(page);
        if first == 0 || arena.span(first).state() != State::Stack {
            return None;
        }
        let stack = stack_in(arena, first);
        let start = stack.base.addr().get();
        let end = start.checked_add(stack.size)?;
        (start..end).contains(&address).then_some(end)
    }

    fn new_stack(&self, arena: &Arena, size: usize, observer: &mut impl Observer) -> Option<u32> {
        let pages = (size / PAGE_SIZE) as u32 + GUARD_PAGES;
        let page = self.page_heap().lock().take(arena, pages, PAGE_SIZE, State::StackIdle)?.first;
        for inside in page..page.saturating_add(pages) {
            arena.set_first(inside, page);
        }
        // SAFETY: the page is the span's first, and nobody uses it.
        if !unsafe { map::guard(arena.address(page), GUARD_PAGES as usize * PAGE_SIZE) } {
            // A stack without a guard would hide an overflow; there is none rather than that.
            self.page_heap().lock().give_back(arena, page, false);
            return None;
        }
        if let Some(info) = arena.span(page).info(page) {
            observer.span_alloc(info);
        }
        Some(page)
    }

    fn free_stack_span(&self, arena: &Arena, page: u32, observer: &mut impl Observer) {
        // SAFETY: the page is the span's first; making it usable again takes nothing from anybody.
        if !unsafe { map::commit(arena.address(page), GUARD_PAGES as usize * PAGE_SIZE) } {
            // The kernel has no memory to note it: the span stays as it is, and is lost.
            return;
        }
        if let Some(info) = arena.span(page).info(page) {
            observer.span_free(info);
        }
        self.free_run(arena, page, false);
    }
}
