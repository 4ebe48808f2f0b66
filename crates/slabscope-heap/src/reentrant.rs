//! Operations that may take no lock, since they may have interrupted one that holds it.
//!
//! Each object gets a span of its own from the top of the arena; it is freed as any other. What is
//! freed here waits in a list until an ordinary operation has time for it. The addresses of such
//! spans are used again by ordinary operations only.

use core::ptr::null_mut;
use core::sync::atomic::Ordering;

use slabscope_os::fatal;
use slabscope_wire::size_class::SizeClass;

use crate::PAGE_SIZE;
use crate::arena::Arena;
use crate::central;
use crate::class::class_of;
use crate::heap::{Heap, is_served};
use crate::large::pages_of;
use crate::observer::Observer;
use crate::page_heap::set;
use crate::slot;
use crate::span::State;

impl Heap {
    /// As [`Heap::alloc_zeroed`], from a place where no lock may be taken.
    pub fn alloc_reentrant(
        &self,
        size: usize,
        align: usize,
        observer: &mut impl Observer,
    ) -> *mut u8 {
        self.try_alloc_reentrant(size, align, observer).unwrap_or(null_mut())
    }

    fn try_alloc_reentrant(
        &self,
        size: usize,
        align: usize,
        observer: &mut impl Observer,
    ) -> Option<*mut u8> {
        if !is_served(align) {
            return None;
        }
        let arena = self.arena()?;
        let class = class_of(size, align);
        let pages = match class {
            Some(class) => class.span_pages() as u32,
            None => pages_of(size)?,
        };
        let page = arena.take_top(pages, align.max(PAGE_SIZE))?;
        let span = arena.span(page);
        match class {
            // With one slot, which is used: so the span leaves when that is freed.
            Some(class) => {
                central::prepare(span, class, 1);
                span.bucket.set(central::APART);
                span.carved.set(1);
                span.used.set(1);
                set(arena, page, pages, State::Small);
            }
            None => {
                span.class.set(SizeClass::LARGE.index() as u8);
                span.used.set(1);
                set(arena, page, pages, State::Large);
            }
        }
        if let Some(info) = span.info(page) {
            observer.span_alloc(info);
        }
        Some(arena.address(page).as_ptr())
    }

    /// As [`Heap::dealloc`], from a place where no lock may be taken.
    ///
    /// # Safety
    /// As [`Heap::dealloc`].
    pub unsafe fn dealloc_reentrant(&self, object: *mut u8, _size: usize, _align: usize) {
        let mut head = self.deferred.load(Ordering::Relaxed);
        loop {
            // SAFETY: every object has eight bytes at least, and this one is the caller's to give.
            unsafe { slot::link(object, head) };
            // Release hands the link to whoever takes the list.
            match self.deferred.compare_exchange_weak(
                head,
                object,
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Frees what is waiting to be.
    #[inline]
    pub(crate) fn free_deferred(&self, arena: &Arena, observer: &mut impl Observer) {
        if !self.deferred.load(Ordering::Relaxed).is_null() {
            self.free_deferred_slow(arena, observer);
        }
    }

    #[cold]
    fn free_deferred_slow(&self, arena: &Arena, observer: &mut impl Observer) {
        let mut object = self.deferred.swap(null_mut(), Ordering::Acquire);
        while !object.is_null() {
            // SAFETY: the list was ours from the swap on, and was made of links.
            let next = unsafe { slot::next(object) };
            let page = arena.page_of(object.addr()).unwrap_or(0);
            let first = match arena.span(page).state() {
                State::Large => page,
                _ => arena.first_of(page),
            };
            match arena.span(first).state() {
                State::Large => self.free_large_span(arena, first, observer),
                State::Small => {
                    // The check is against the span's own class: it is the place that is checked.
                    let first = crate::small::span_of(arena, object, arena.span(first).class());
                    // SAFETY: the object was given up by `dealloc_reentrant` and is a slot here.
                    unsafe { self.free_uncached(arena, first, object, observer) };
                }
                _ => fatal(&["an object was freed in a signal handler that is none of this heap"]),
            }
            object = next;
        }
    }
}
