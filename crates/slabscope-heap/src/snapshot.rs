//! Everything that exists at one moment.

use core::ptr::NonNull;

use slabscope_os::map;
use slabscope_wire::size_class::SizeClass;

use crate::PAGE_SIZE;
use crate::arena::Arena;
use crate::heap::Heap;
use crate::observer::SpanInfo;
use crate::slot::chain;
use crate::span::State;
use crate::stack::{StackMemory, stack_in};
use crate::thread_cache::ThreadCache;

/// Something that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// A span; its objects follow.
    Span(SpanInfo),
    /// An object.
    Object {
        /// Where it lies.
        address: usize,
        /// Bytes of its slot or span.
        slot: usize,
    },
    /// A stack that somebody has.
    Stack(StackMemory),
}

/// Smallest distance of two slots, in bytes.
const GRAIN: usize = 8;

/// Bytes of bits for a page.
const PAGE_BITS: usize = PAGE_SIZE / GRAIN / 8;

/// A bit for each place where a slot may begin, set where that slot is free.
struct FreeBits<'a> {
    arena: &'a Arena,
    bits: NonNull<u8>,
    bottom: u32,
    top: u32,
}

impl<'a> FreeBits<'a> {
    fn new(arena: &'a Arena) -> Option<Self> {
        let (bottom, top) = arena.bounds();
        let bits = map::zeroed(Self::bytes(arena, bottom, top))?;
        Some(FreeBits { arena, bits, bottom, top })
    }

    /// Pages below bottom, then those from top on.
    fn bytes(arena: &Arena, bottom: u32, top: u32) -> usize {
        (bottom as usize + (arena.pages() - top) as usize) * PAGE_BITS
    }

    /// The byte and the bit for a slot; `None` where no page is usable.
    fn place(&self, address: usize) -> Option<(usize, u8)> {
        let page = self.arena.page_of(address)?;
        let row = match page {
            page if page < self.bottom => page,
            page if page >= self.top => page - self.top + self.bottom,
            _ => return None,
        };
        let grain = address % PAGE_SIZE / GRAIN;
        Some((row as usize * PAGE_BITS + grain / 8, 1 << (grain % 8)))
    }

    fn set(&mut self, slot: *mut u8) {
        if let Some((byte, bit)) = self.place(slot.addr()) {
            // SAFETY: `place` gives bytes inside the mapping, which is ours.
            unsafe { *self.bits.add(byte).as_ptr() |= bit };
        }
    }

    fn is_set(&self, address: usize) -> bool {
        // SAFETY: as in `set`.
        self.place(address)
            .is_some_and(|(byte, bit)| unsafe { *self.bits.add(byte).as_ptr() } & bit != 0)
    }
}

impl Drop for FreeBits<'_> {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and has this length.
        unsafe { map::unmap(self.bits, Self::bytes(self.arena, self.bottom, self.top)) };
    }
}

impl Heap {
    /// Shows everything that exists, each span before its objects. `false` when there is no memory
    /// to find it out with, and nothing was shown.
    ///
    /// Nobody uses the heap meanwhile, and `caches` are all that have slots of it: what they and the
    /// heap keep free is not shown, and everything else is. It allocates nothing on the heap.
    pub fn snapshot<'c>(
        &self,
        caches: impl Iterator<Item = &'c ThreadCache>,
        mut show: impl FnMut(Existing),
    ) -> bool {
        let Some(arena) = self.arena() else { return true };
        let Some(mut free) = FreeBits::new(arena) else { return false };
        for slot in caches.flat_map(ThreadCache::slots) {
            free.set(slot);
        }
        for class in SizeClass::all() {
            for slot in self.central(class).lock().slots() {
                free.set(slot);
            }
        }
        let deferred = self.deferred.load(core::sync::atomic::Ordering::Acquire);
        // SAFETY: the list only grows at its head, and nobody takes it meanwhile.
        for object in unsafe { chain(deferred) } {
            free.set(object);
        }
        each_span(arena, |page| {
            let span = arena.span(page);
            if span.state() != State::Small {
                return;
            }
            // SAFETY: the chain is the span's own, and nobody uses the heap meanwhile.
            for slot in unsafe { chain(span.free.get()) } {
                free.set(slot);
            }
        });
        each_span(arena, |page| show_span(arena, page, &free, &mut show));
        true
    }
}

/// Calls `f` with the first page of every run in use.
pub(crate) fn each_span(arena: &Arena, mut f: impl FnMut(u32)) {
    let (bottom, top) = arena.bounds();
    for (start, end) in [(1, bottom), (top, arena.pages())] {
        let mut page = start;
        while page < end {
            let span = arena.span(page);
            match span.state() {
                // What an alignment left over at the top belongs to no run.
                State::None => page += 1,
                State::Free => page += span.pages.get().max(1),
                _ => {
                    f(page);
                    page += span.pages.get().max(1);
                }
            }
        }
    }
}

fn show_span(arena: &Arena, page: u32, free: &FreeBits<'_>, show: &mut impl FnMut(Existing)) {
    let span = arena.span(page);
    let Some(info) = span.info(page) else { return };
    show(Existing::Span(info));
    let start = arena.address(page).addr().get();
    let (slot, count) = match span.state() {
        State::Small => (span.class().slot_size(), span.carved.get() as usize),
        State::Large => (info.pages * PAGE_SIZE, 1),
        State::Stack => return show(Existing::Stack(stack_in(arena, page))),
        _ => return,
    };
    for address in (0..count).map(|index| start + index * slot) {
        if !free.is_set(address) {
            show(Existing::Object { address, slot });
        }
    }
}
