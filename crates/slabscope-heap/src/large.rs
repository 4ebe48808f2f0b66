//! Objects with a span of their own: above 32 KiB, or aligned to more than a page.

use core::ptr::null_mut;

use slabscope_os::{fatal, map};
use slabscope_wire::size_class::SizeClass;

use crate::PAGE_SIZE;
use crate::arena::Arena;
use crate::front::Front;
use crate::heap::{Heap, is_served};
use crate::observer::Observer;
use crate::span::{Span, State};
use crate::thread_cache::ThreadCache;

/// Before the arena grows for an object of at least so many pages, slots kept free are given up.
const RECLAIM_MIN: u32 = (1 << 20) / PAGE_SIZE as u32;

/// Zeros are had from the kernel, not written, for objects of at least this many bytes.
const ZERO_BY_KERNEL_MIN: usize = 256 << 10;

/// Pages for an object of `size` bytes; `None` for more than there can be.
pub(crate) fn pages_of(size: usize) -> Option<u32> {
    u32::try_from(size.div_ceil(PAGE_SIZE)).ok().map(|pages| pages.max(1))
}

impl Heap {
    /// As [`Heap::alloc`] of what [`Heap::has_own_span`], if the front has kept one of that length; else
    /// null, and nothing was done.
    #[inline]
    pub fn alloc_kept(&self, front: &Front, size: usize) -> *mut u8 {
        let Some(arena) = self.arena_if_made() else { return null_mut() };
        let object = front.large.take(pages_at_least(size));
        if !object.is_null()
            && let Some(span) = arena.span_at(object.addr())
        {
            span.used.set(1);
        }
        object
    }

    /// As [`Heap::dealloc`] of what [`Heap::has_own_span`], if the front has room to keep it; else
    /// `false`, and nothing was done.
    ///
    /// # Safety
    /// As [`Heap::dealloc`], with the cache that `front` is the front of; or that is closed.
    #[inline]
    pub unsafe fn dealloc_kept(&self, front: &Front, object: *mut u8, size: usize) -> bool {
        let Some(arena) = self.arena_if_made() else { return false };
        let check = || {
            large_span(arena, object, size).used.set(0);
            true
        };
        // SAFETY: the object is a whole span, by the check, and the caller gives it up.
        unsafe { front.large.put(object, pages_at_least(size), check) }
    }

    /// Allocates; says also whether all bytes read as zero.
    #[inline(never)]
    pub(crate) fn alloc_large(
        &self,
        cache: &mut ThreadCache,
        size: usize,
        align: usize,
        observer: &mut impl Observer,
    ) -> Option<(*mut u8, bool)> {
        if align <= PAGE_SIZE {
            let object = self.alloc_kept(cache.front(), size);
            if !object.is_null() {
                return Some((object, false));
            }
        }
        self.alloc_large_slow(cache, size, align, observer)
    }

    #[cold]
    #[inline(never)]
    fn alloc_large_slow(
        &self,
        cache: &mut ThreadCache,
        size: usize,
        align: usize,
        observer: &mut impl Observer,
    ) -> Option<(*mut u8, bool)> {
        let pages = pages_of(size)?;
        if !is_served(align) {
            return None;
        }
        let arena = self.arena()?;
        self.free_deferred(arena, observer);
        if pages >= RECLAIM_MIN && self.page_heap().lock().is_scattered(arena, pages) {
            // A few free slots that are kept may hold many spans, and break long runs.
            self.flush(cache, observer);
            self.flush_lists(arena, observer);
        }
        let run = self.page_heap().lock().take(arena, pages, align, State::Large)?;
        let span = arena.span(run.first);
        span.class.set(SizeClass::LARGE.index() as u8);
        span.used.set(1);
        if let Some(info) = span.info(run.first) {
            observer.span_alloc(info);
        }
        Some((arena.address(run.first).as_ptr(), run.zeroed))
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn alloc_large_zeroed(
        &self,
        cache: &mut ThreadCache,
        size: usize,
        align: usize,
        observer: &mut impl Observer,
    ) -> *mut u8 {
        let Some((object, zeroed)) = self.alloc_large(cache, size, align, observer) else {
            return null_mut();
        };
        if zeroed {
            return object;
        }
        let by_kernel = size >= ZERO_BY_KERNEL_MIN && {
            let Some(start) = core::ptr::NonNull::new(object) else { return null_mut() };
            // SAFETY: the object is `size` bytes of the arena's mapping, and nobody uses it yet.
            unsafe { map::discard(start, size) }
        };
        if !by_kernel {
            // SAFETY: as above.
            unsafe { object.write_bytes(0, size) };
        }
        object
    }

    /// Frees.
    ///
    /// # Safety
    /// As [`Heap::dealloc`].
    #[inline(never)]
    pub(crate) unsafe fn free_large(
        &self,
        cache: &mut ThreadCache,
        object: *mut u8,
        size: usize,
        observer: &mut impl Observer,
    ) {
        // SAFETY: passed on to the caller.
        if unsafe { self.dealloc_kept(cache.front(), object, size) } {
            return;
        }
        let Some(arena) = self.arena() else { return };
        large_span(arena, object, size).used.set(0);
        let page = arena.page_of(object.addr()).unwrap_or(0);
        self.free_large_span(arena, page, observer);
        self.give_up_at_ebb(cache, observer);
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn free_large_span(&self, arena: &Arena, page: u32, observer: &mut impl Observer) {
        let span = arena.span(page);
        if let Some(info) = span.info(page) {
            observer.span_free(info);
        }
        self.free_run(arena, page, false);
    }

    /// Resizes where the object lies.
    ///
    /// # Safety
    /// As [`Heap::resize_in_place`].
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn resize_large(
        &self,
        object: *mut u8,
        size: usize,
        new_size: usize,
        observer: &mut impl Observer,
    ) -> bool {
        let (Some(arena), Some(new)) = (self.arena(), pages_of(new_size)) else { return false };
        let span = large_span(arena, object, size);
        let page = arena.page_of(object.addr()).unwrap_or(0);
        let old = span.pages.get();
        let Some(before) = span.info(page) else { return false };
        if new > old && !self.page_heap().lock().extend(arena, page, new) {
            return false;
        }
        if new != old {
            observer.span_free(before);
            observer.span_alloc(crate::SpanInfo { pages: new as usize, ..before });
        }
        if new < old {
            self.page_heap().lock().shrink(arena, page, new);
        }
        true
    }
}

/// Pages that `size` bytes take, as far as there can be so many.
#[inline(always)]
fn pages_at_least(size: usize) -> usize {
    size.wrapping_add(PAGE_SIZE - 1) / PAGE_SIZE
}

/// The record of the object's span. Ends the program if that is no large object of this size.
#[inline(always)]
fn large_span(arena: &Arena, object: *mut u8, size: usize) -> &Span {
    let fits = |span: &&Span| {
        span.is_large()
            && span.used.get() == 1
            && object.addr().is_multiple_of(PAGE_SIZE)
            && pages_at_least(size).max(1) == span.pages.get() as usize
    };
    match arena.span_at(object.addr()).filter(fits) {
        Some(span) => span,
        None => fatal(&[
            "a large object was freed or resized that is not one of this heap, was freed before, ",
            "or has another size than it was allocated with",
        ]),
    }
}
