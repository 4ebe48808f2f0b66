//! Stacks for coroutines: a power of two long, with a guard page, kept for the next who asks.
//!
//! With the feature `corosensei` a [`Stack`] serves the coroutines of that crate:
//! `Coroutine::with_stack(stack, ..)`, and `into_stack` gives it back.
//!
//! Go's name for the event is GoroutineStack; a trace shows each of these as one. Stacks of threads
//! appear too, made by whomever, from a thread's first allocation to its end.

use core::ptr::NonNull;

use slabscope_heap::StackMemory;
use slabscope_wire::alloc_free::{STACK_ALIGN, stack_order};

use crate::HEAP;
use crate::door::{self, Access};
use crate::traced::Spans;

/// A stack nobody stands on. Dropping it gives it back.
///
/// ```
/// let stack = slabscope::stack::Stack::new(100_000).expect("memory for a stack");
/// assert_eq!(stack.size(), 131_072);
/// assert_eq!(stack.top().addr().get() - stack.bottom().addr().get(), stack.size());
/// ```
#[derive(Debug)]
pub struct Stack(StackMemory);

// SAFETY: it is memory that one owner has, whatever thread that is on.
unsafe impl Send for Stack {}

impl Stack {
    /// A stack of at least `size` bytes, rounded up to a power of two. Its contents are whatever the
    /// last user left.
    ///
    /// `None` when there is no memory, when `size` is beyond what the heap can hold, or from a
    /// signal handler that interrupted an allocation.
    pub fn new(size: usize) -> Option<Stack> {
        door::operation(|access| match access {
            Access::Plain(_) => HEAP.alloc_stack(size, &mut ()),
            Access::Traced(_, emitter) => {
                let stack = HEAP.alloc_stack(size, &mut Spans(emitter))?;
                emitter.stack_alloc(id(&stack), stack_order(stack.size as u64));
                Some(stack)
            }
            Access::Reentrant(_) => None,
        })
        .map(Stack)
    }

    /// The lowest address that may be used; an access below it faults.
    pub fn bottom(&self) -> NonNull<u8> {
        self.0.base
    }

    /// The address just above the stack, where the first value is pushed.
    pub fn top(&self) -> NonNull<u8> {
        // SAFETY: one past the end of the stack's memory.
        unsafe { self.0.base.add(self.0.size) }
    }

    /// Bytes from bottom to top.
    pub fn size(&self) -> usize {
        self.0.size
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        let stack = self.0;
        door::operation(|access| match access {
            // SAFETY: the stack is this value's own, and nobody stands on it when it is dropped.
            Access::Plain(_) => unsafe { HEAP.free_stack(stack, &mut ()) },
            Access::Traced(_, emitter) => {
                emitter.stack_free(id(&stack));
                // SAFETY: as above.
                unsafe { HEAP.free_stack(stack, &mut Spans(emitter)) }
            }
            // It stays allocated, and the trace says so.
            Access::Reentrant(_) => {}
        });
    }
}

#[cfg(feature = "corosensei")]
// SAFETY: from limit to base it is memory that the value owns, both are multiples of a page, and an
// access below the limit hits the guard page.
unsafe impl corosensei::stack::Stack for Stack {
    fn base(&self) -> corosensei::stack::StackPointer {
        self.top().addr()
    }

    fn limit(&self) -> corosensei::stack::StackPointer {
        self.bottom().addr()
    }
}

/// The stack as an event names it.
pub(crate) fn id(stack: &StackMemory) -> u64 {
    (stack.base.addr().get() as u64).wrapping_sub(HEAP.base() as u64) / STACK_ALIGN
}
