//! One stack, as we and as the `backtrace` crate find it.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::cell::Cell;
use std::sync::Once;

use slabscope_os::registers::Registers;
use slabscope_os::{clock, own_memory};
use slabscope_unwind::{CallStack, Depth, Frame, Memo, Place, Unwinder};

pub(crate) static UNWINDER: Unwinder = Unwinder::new();

static SCANNED: Once = Once::new();

/// What both found.
pub(crate) struct Probe {
    pub(crate) ours: Vec<Frame>,
    pub(crate) theirs: Vec<u64>,
}

fn elsewhere(address: usize) -> usize {
    address + own_memory::readable(address)
}

fn know_modules() {
    // A scan that finds another at work finds nothing.
    SCANNED.call_once(|| {
        let changed = UNWINDER.scan(clock::monotonic_ns()).expect("modules can be found");
        assert!(changed, "there are modules");
    });
}

thread_local! {
    static MEMO: Memo = const { Memo::new() };
    static STACK: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// The calling thread's stack.
fn own_stack() -> (usize, usize) {
    if STACK.get() == (0, 0) {
        let (mut start, mut len) = (std::ptr::null_mut(), 0);
        // SAFETY: the call fills the attributes of the calling thread, which are asked and given back.
        unsafe {
            let mut attributes = std::mem::zeroed();
            assert_eq!(libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes), 0);
            libc::pthread_attr_getstack(&raw const attributes, &raw mut start, &raw mut len);
            libc::pthread_attr_destroy(&raw mut attributes);
        }
        STACK.set((start.addr(), start.addr() + len));
    }
    STACK.get()
}

/// Compares the hash of the stack of whoever calls this, as it is walked, with that which is told from what
/// this thread asked for before; whether it was.
#[inline(never)]
pub(crate) fn recall(depth: usize) -> bool {
    know_modules();
    let place = Place { registers: Registers::here(), stack: own_stack(), elsewhere };
    let mut stack = CallStack::new();
    UNWINDER.walk(&place, Depth::new(depth), &mut stack);
    let told = MEMO.with(|memo| UNWINDER.hash(&place, Depth::new(depth), memo));
    assert!(told.is_none_or(|told| told == stack.hash()), "{:x?}", stack.frames());
    assert!(told.is_none() || !stack.is_truncated());
    told.is_some()
}

/// The stack of whoever calls this.
#[inline(never)]
pub(crate) fn probe(depth: usize) -> Probe {
    know_modules();
    let place = Place { registers: Registers::here(), stack: (0, 0), elsewhere };
    let mut stack = CallStack::new();
    UNWINDER.walk(&place, Depth::new(depth), &mut stack);
    let ours = stack.frames().to_vec();
    let mut theirs = Vec::new();
    backtrace::trace(|frame| {
        // Behind the last frame it gives one of address 0.
        theirs.extend(Some(frame.ip().addr() as u64).filter(|&address| address != 0));
        true
    });
    Probe { ours, theirs }
}

impl Probe {
    /// Whether every frame is the same, from the probe's caller on.
    pub(crate) fn is_same(&self) -> bool {
        let ours = || self.ours.iter().map(|frame| frame.address());
        let start = self.theirs.iter().position(|&address| Some(address) == ours().next());
        let theirs = start.and_then(|start| self.theirs.get(start..)).unwrap_or_default();
        !theirs.is_empty() && ours().eq(theirs.iter().copied().take(64))
    }

    pub(crate) fn assert_same(&self) {
        assert!(self.is_same(), "ours {:x?}\ntheirs {:x?}", self.ours, self.theirs);
    }

    pub(crate) fn last_flags(&self) -> u64 {
        self.ours.last().expect("frames").flags()
    }
}
