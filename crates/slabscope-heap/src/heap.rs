//! The heap: its parts, and the operations every program uses.

use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use slabscope_os::lock::Lock;
use slabscope_os::map;
use slabscope_wire::size_class::{COUNT, SIZE_MAX};

use crate::arena::Arena;
use crate::central::Central;
use crate::class::{class_of, class_plain};
use crate::observer::Observer;
use crate::page_heap::PageHeap;
use crate::stack::IdleStacks;
use crate::thread_cache::ThreadCache;
use crate::{ALIGN_MAX, ALIGN_PLAIN};

/// Addresses to reserve, in bytes. They cost nothing until they are used.
const ARENA_MAX: usize = 256 << 30;

/// A heap. Any number of threads may use it, each with a [`ThreadCache`] of its own.
///
/// It reserves its addresses at the first use. Dropping it gives everything back to the kernel.
#[derive(Debug)]
pub struct Heap {
    /// Null until the first use; then never changes.
    arena: AtomicPtr<Arena>,
    arena_max: usize,
    page_heap: Lock<PageHeap>,
    centrals: [Lock<Central>; COUNT],
    pub(crate) idle_stacks: Lock<IdleStacks>,
    /// Objects freed where no lock could be taken, linked through their first word.
    pub(crate) deferred: AtomicPtr<u8>,
    /// There was an ebb, and nobody has given up anything since; see `ebb`.
    pub(crate) ebb: AtomicBool,
}

// SAFETY: every part is shareable by itself; the two pointers lead to what the heap owns, and are
// published with release and read with acquire.
unsafe impl Sync for Heap {}
// SAFETY: it is tied to no thread.
unsafe impl Send for Heap {}

impl Heap {
    /// An empty heap of 256 GiB of addresses, or what the kernel allows.
    #[expect(clippy::new_without_default, reason = "it is made for statics")]
    pub const fn new() -> Self {
        Self::with_arena_max(ARENA_MAX)
    }

    /// An empty heap of `bytes` of addresses at most.
    pub const fn with_arena_max(bytes: usize) -> Self {
        Heap {
            arena: AtomicPtr::new(null_mut()),
            arena_max: bytes,
            page_heap: Lock::new(PageHeap::new()),
            centrals: [const { Lock::new(Central::new()) }; COUNT],
            idle_stacks: Lock::new(IdleStacks::new()),
            deferred: AtomicPtr::new(null_mut()),
            ebb: AtomicBool::new(false),
        }
    }

    /// Reserves the addresses, if that was not done; `false` when the kernel refuses.
    pub fn init(&self) -> bool {
        self.arena().is_some()
    }

    /// The lowest address, from which pages are counted; 0 as long as there is none.
    #[inline]
    pub fn base(&self) -> usize {
        self.arena().map_or(0, Arena::base)
    }

    /// Whether an address is one of the heap's.
    pub fn contains(&self, address: usize) -> bool {
        self.arena().is_some_and(|arena| arena.page_of(address).is_some())
    }

    /// Allocates `size` bytes at `align`, a power of two; null without memory, or when `align` is
    /// above [`ALIGN_MAX`].
    #[inline]
    pub fn alloc(
        &self,
        cache: &mut ThreadCache,
        size: usize,
        align: usize,
        observer: &mut impl Observer,
    ) -> *mut u8 {
        let Some(class) = class_of(size, align) else {
            return self
                .alloc_large(cache, size, align, observer)
                .map_or(null_mut(), |(object, _)| object);
        };
        let slot = cache.front().take(class);
        if slot.is_null() { self.refill(cache, class, observer) } else { slot }
    }

    /// As [`Heap::alloc`], and all bytes are zero. Large objects cost no memory until they are
    /// written.
    #[inline]
    pub fn alloc_zeroed(
        &self,
        cache: &mut ThreadCache,
        size: usize,
        align: usize,
        observer: &mut impl Observer,
    ) -> *mut u8 {
        if class_of(size, align).is_none() {
            return self.alloc_large_zeroed(cache, size, align, observer);
        }
        let object = self.alloc(cache, size, align, observer);
        if !object.is_null() {
            // SAFETY: the slot has at least `size` bytes and is the caller's alone.
            unsafe { object.write_bytes(0, size) };
        }
        object
    }

    /// Frees an object.
    ///
    /// # Safety
    /// It came from this heap with this size and alignment, and is used no more.
    #[inline]
    pub unsafe fn dealloc(
        &self,
        cache: &mut ThreadCache,
        object: *mut u8,
        size: usize,
        align: usize,
        observer: &mut impl Observer,
    ) {
        let Some(class) = class_of(size, align) else {
            // SAFETY: passed on to the caller.
            return unsafe { self.free_large(cache, object, size, observer) };
        };
        // SAFETY: passed on to the caller.
        if !unsafe { cache.front().put(class, object) } {
            // SAFETY: passed on to the caller.
            unsafe { self.overflow(cache, class, object, observer) };
        }
    }

    /// Makes an object `new_size` bytes long where it lies, if its slot or the pages after it allow
    /// that; `false` and nothing changed if not. The bytes that stay keep their values.
    ///
    /// When its span changes, the observer is told that the old one is freed and the new one
    /// allocated, with the same first page.
    ///
    /// # Safety
    /// The object came from this heap with this size and alignment, and nobody else uses it.
    #[inline]
    pub unsafe fn resize_in_place(
        &self,
        object: *mut u8,
        size: usize,
        align: usize,
        new_size: usize,
        observer: &mut impl Observer,
    ) -> bool {
        match (class_of(size, align), class_of(new_size, align)) {
            (Some(old), Some(new)) => old == new,
            // SAFETY: passed on to the caller.
            (None, None) => unsafe { self.resize_large(object, size, new_size, observer) },
            _ => false,
        }
    }

    /// Whether an object of `size` bytes is too long for a slot.
    #[inline(always)]
    pub fn has_own_span(size: usize) -> bool {
        size > SIZE_MAX
    }

    /// Whether [`Heap::resize_in_place`] would have nothing to do: both sizes have the same slot.
    #[inline(always)]
    pub fn same_slot(size: usize, new_size: usize, align: usize) -> bool {
        if align > ALIGN_PLAIN {
            return false;
        }
        match (class_plain(size), class_plain(new_size)) {
            (Some(old), Some(new)) => old == new,
            _ => false,
        }
    }

    /// Bytes of addresses reserved, bytes made usable, and bytes in runs that are free.
    pub fn stats(&self) -> Stats {
        let Some(arena) = self.arena() else { return Stats::default() };
        let (bottom, top) = arena.bounds();
        let usable = (bottom - 1 + (arena.pages() - top)) as usize;
        Stats {
            reserved: arena.reserved(),
            usable: usable * crate::PAGE_SIZE,
            free: self.page_heap.lock().free_pages() as usize * crate::PAGE_SIZE,
        }
    }

    /// The arena, reserved at the first call. May be called from anywhere: it takes no lock, and of
    /// two that come first one wins.
    #[inline]
    pub(crate) fn arena(&self) -> Option<&Arena> {
        match self.arena_if_made() {
            Some(arena) => Some(arena),
            None => self.make_arena(),
        }
    }

    /// The arena, if it was reserved.
    #[inline]
    pub(crate) fn arena_if_made(&self) -> Option<&Arena> {
        // Acquire pairs with the release that published the arena.
        // SAFETY: once published it stays until the heap is dropped.
        unsafe { self.arena.load(Ordering::Acquire).as_ref() }
    }

    #[cold]
    fn make_arena(&self) -> Option<&Arena> {
        let arena = Arena::new(self.arena_max.min(ARENA_MAX))?;
        let Some(place) = map::zeroed(size_of::<Arena>()) else {
            // SAFETY: nobody knows it.
            unsafe { arena.unmap() };
            return None;
        };
        let place: NonNull<Arena> = place.cast();
        // SAFETY: the mapping is large enough, page-aligned, and nobody's yet.
        unsafe { place.as_ptr().write(arena) };
        let (new, old) = (place.as_ptr(), null_mut());
        match self.arena.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: just published; it stays until the heap is dropped.
            Ok(_) => Some(unsafe { place.as_ref() }),
            Err(winner) => {
                // SAFETY: ours was not published; the winner's was.
                unsafe {
                    unmap_arena(place);
                    winner.as_ref()
                }
            }
        }
    }

    pub(crate) fn page_heap(&self) -> &Lock<PageHeap> {
        &self.page_heap
    }

    pub(crate) fn centrals(&self) -> &[Lock<Central>; COUNT] {
        &self.centrals
    }
}

/// Bytes of a heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Addresses reserved.
    pub reserved: usize,
    /// Made usable so far; memory is used for those that were written.
    pub usable: usize,
    /// Of these, in runs that are free.
    pub free: usize,
}

impl Drop for Heap {
    fn drop(&mut self) {
        if let Some(arena) = NonNull::new(*self.arena.get_mut()) {
            // SAFETY: the arena was published by `make_arena`, and with the heap go all who use it.
            unsafe { unmap_arena(arena) };
        }
    }
}

/// # Safety
/// It was made by `make_arena`, and nobody uses it or what is in it.
unsafe fn unmap_arena(arena: NonNull<Arena>) {
    // SAFETY: passed on to the caller.
    unsafe {
        arena.as_ref().unmap();
        map::unmap(arena.cast(), size_of::<Arena>());
    }
}

/// Whether the heap serves this alignment.
pub(crate) fn is_served(align: usize) -> bool {
    align <= ALIGN_MAX
}
