//! The heap's range of addresses, the records of its pages, and how far both are in use.
//!
//! All addresses are reserved at once, so that a page has a small number and its record one place.
//! Pages become usable from the bottom up; operations that may take no lock get theirs from the
//! top down. Page 0 is never used, so 0 means none.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};

use slabscope_os::{fatal, map};

use crate::PAGE_SIZE;
use crate::relaxed::Number;
use crate::span::Span;

/// The smallest reservation that is worth having, in bytes.
const BYTES_MIN: usize = 64 << 20;

/// The base is aligned to this, so that large kernel pages fit.
const BASE_ALIGN: usize = 4 << 20;

/// See the module.
#[derive(Debug)]
pub(crate) struct Arena {
    base: NonNull<u8>,
    pages: u32,
    /// For each page the first page of its run; right for both ends of every run and for all pages
    /// of spans with slots.
    firsts: NonNull<Number>,
    /// For each page the record of the run that begins there.
    spans: NonNull<Span>,
    /// `[top : 32 | bottom : 32]`: pages below bottom and from top on are usable. In one word, so that
    /// the two never cross.
    bounds: AtomicU64,
    mapping: (NonNull<u8>, usize),
}

fn pack(bottom: u32, top: u32) -> u64 {
    u64::from(top) << 32 | u64::from(bottom)
}

fn unpack(bounds: u64) -> (u32, u32) {
    (bounds as u32, (bounds >> 32) as u32)
}

impl Arena {
    /// Reserves up to `bytes_max`; half of it, and so on, where the kernel refuses. `None` when it
    /// refuses everything that is of use.
    pub(crate) fn new(bytes_max: usize) -> Option<Self> {
        let mut bytes = bytes_max;
        loop {
            if let Some(arena) = Self::of_size(bytes) {
                return Some(arena);
            }
            bytes /= 2;
            if bytes < BYTES_MIN {
                return None;
            }
        }
    }

    fn of_size(bytes: usize) -> Option<Self> {
        let pages = bytes / PAGE_SIZE;
        let tables_len = pages * (size_of::<Span>() + size_of::<Number>());
        let tables = map::zeroed(tables_len)?;
        let mapping_len = bytes + BASE_ALIGN;
        let Some(mapping) = map::reserve(mapping_len) else {
            // SAFETY: the tables were mapped above, and nobody uses them.
            unsafe { map::unmap(tables, tables_len) };
            return None;
        };
        let skip = mapping.as_ptr().align_offset(BASE_ALIGN);
        // SAFETY: `skip` is below BASE_ALIGN, by which the mapping is longer than the arena; the
        // records are shorter than both tables together.
        let (base, firsts) =
            unsafe { (mapping.add(skip), tables.add(pages * size_of::<Span>()).cast()) };
        Some(Arena {
            base,
            pages: pages as u32,
            firsts,
            spans: tables.cast(),
            bounds: AtomicU64::new(pack(1, pages as u32)),
            mapping: (mapping, mapping_len),
        })
    }

    /// Gives everything back to the kernel.
    ///
    /// # Safety
    /// Nothing in it is used any more.
    pub(crate) unsafe fn unmap(&self) {
        let tables_len = self.pages as usize * (size_of::<Span>() + size_of::<Number>());
        // SAFETY: both were mapped by `of_size` with these lengths; the rest is the caller's promise.
        unsafe {
            map::unmap(self.mapping.0, self.mapping.1);
            map::unmap(self.spans.cast(), tables_len);
        }
    }

    #[inline]
    pub(crate) fn base(&self) -> usize {
        self.base.addr().get()
    }

    /// Bytes of addresses.
    pub(crate) fn reserved(&self) -> usize {
        self.pages as usize * PAGE_SIZE
    }

    /// First pages of the two ranges that are not usable: bottom, and where usable pages begin again.
    pub(crate) fn bounds(&self) -> (u32, u32) {
        unpack(self.bounds.load(Ordering::Acquire))
    }

    /// How many pages there are.
    pub(crate) fn pages(&self) -> u32 {
        self.pages
    }

    /// Where a page begins.
    #[inline]
    pub(crate) fn address(&self, page: u32) -> NonNull<u8> {
        let page = page.min(self.pages);
        // SAFETY: at most one past the end of the arena.
        unsafe { self.base.add(page as usize * PAGE_SIZE) }
    }

    /// The page that `address` lies in; `None` outside the arena.
    #[inline]
    pub(crate) fn page_of(&self, address: usize) -> Option<u32> {
        let offset = address.checked_sub(self.base())?;
        let page = offset / PAGE_SIZE;
        (page < self.pages as usize).then_some(page as u32)
    }

    /// The first page of the run that `page` belongs to; see `firsts` for when that is right.
    #[inline]
    pub(crate) fn first_of(&self, page: u32) -> u32 {
        self.firsts().get(page as usize).map_or(0, Number::get)
    }

    /// Notes that `page` belongs to the run that begins at `first`.
    #[inline]
    pub(crate) fn set_first(&self, page: u32, first: u32) {
        if let Some(entry) = self.firsts().get(page as usize) {
            entry.set(first);
        }
    }

    /// The record of the run that begins at `page`.
    #[inline(always)]
    pub(crate) fn span(&self, page: u32) -> &Span {
        if page >= self.pages {
            fatal(&["the heap's page table is broken: a page beyond the end"]);
        }
        // SAFETY: the table has `pages` records, zeroed at least, as long as `self` lives.
        unsafe { self.spans.add(page as usize).as_ref() }
    }

    /// The record of the run that begins with the page of `address`; `None` outside the arena.
    #[inline(always)]
    pub(crate) fn span_at(&self, address: usize) -> Option<&Span> {
        let page = address.wrapping_sub(self.base()) / PAGE_SIZE;
        // SAFETY: as above.
        (page < self.pages as usize).then(|| unsafe { self.spans.add(page).as_ref() })
    }

    /// Makes `pages` more pages usable, above those that are. Only the page heap calls this, under
    /// its lock.
    pub(crate) fn grow(&self, pages: u32) -> Option<u32> {
        let taken = self.bounds.fetch_update(Ordering::AcqRel, Ordering::Acquire, |bounds| {
            let (bottom, top) = unpack(bounds);
            let new = bottom.checked_add(pages)?;
            (new <= top).then(|| pack(new, top))
        });
        let (first, _) = unpack(taken.ok()?);
        if self.commit(first, pages) {
            return Some(first);
        }
        // The lock keeps others from moving the bottom.
        self.bounds.fetch_sub(u64::from(pages), Ordering::AcqRel);
        None
    }

    /// Makes `pages` pages usable, below those at the top, with a beginning at a multiple of `align`
    /// bytes. Takes no lock.
    pub(crate) fn take_top(&self, pages: u32, align: usize) -> Option<u32> {
        let place = |top: u32| {
            let end = self.address(top.checked_sub(pages)?).addr().get();
            self.page_of(end & !(align.max(PAGE_SIZE) - 1))
        };
        let taken = self.bounds.fetch_update(Ordering::AcqRel, Ordering::Acquire, |bounds| {
            let (bottom, top) = unpack(bounds);
            let new = place(top)?;
            (new >= bottom).then(|| pack(bottom, new))
        });
        let (_, top) = unpack(taken.ok()?);
        let first = place(top)?;
        // What the alignment leaves above, and what the kernel refuses, is never used.
        self.commit(first, pages).then_some(first)
    }

    fn commit(&self, first: u32, pages: u32) -> bool {
        // SAFETY: the pages lie inside the arena, by the bounds.
        unsafe { map::commit(self.address(first), pages as usize * PAGE_SIZE) }
    }

    #[inline]
    fn firsts(&self) -> &[Number] {
        // SAFETY: the table has `pages` entries, zeroed at least, as long as `self` lives.
        unsafe { core::slice::from_raw_parts(self.firsts.as_ptr(), self.pages as usize) }
    }
}
