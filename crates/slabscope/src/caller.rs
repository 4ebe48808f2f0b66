//! Where a call to the allocator comes from, for its call stack.

use slabscope_os::registers::Registers;
use slabscope_os::{own_memory, signal};
use slabscope_record::{Place, Unwinder};

use crate::HEAP;
use crate::tls::Thread;

/// What walks call stacks; one for all traces of the process.
pub(crate) static UNWINDER: Unwinder = Unwinder::new();

/// A function of ours that the program called, and its thread.
#[derive(Clone, Copy)]
pub(crate) struct Caller<'a> {
    registers: Registers,
    thread: &'a Thread,
}

impl<'a> Caller<'a> {
    /// The caller of the function that calls this, which must not return before the last use.
    #[inline(always)]
    pub(crate) fn of_this(thread: &'a Thread) -> Self {
        Caller { registers: Registers::here(), thread }
    }

    /// Where to walk from.
    pub(crate) fn place(self) -> Place {
        let (start, len) = self.thread.stack.get().unwrap_or((0, 0));
        Place { registers: self.registers, stack: (start, start + len), elsewhere: stack_end }
    }
}

/// Up to where the stack that `address` lies in can be read, if it is not the thread's own: a
/// coroutine's, a signal handler's, or one that nobody told us of.
fn stack_end(address: usize) -> usize {
    if let Some(end) = HEAP.stack_end(address) {
        return end;
    }
    match signal::stack_in_use() {
        Some((start, end)) if (start..end).contains(&address) => end,
        _ => address.saturating_add(own_memory::readable(address)),
    }
}
