//! How much of everything there is.

use slabscope_wire::size_class::{COUNT, SizeClass};

use crate::PAGE_SIZE;
use crate::heap::Heap;
use crate::slot::chain;
use crate::snapshot::each_span;
use crate::span::State;
use crate::thread_cache::ThreadCache;

/// What a size class has. All but `spans` in bytes of slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassUsage {
    /// Bytes of a slot.
    pub slot_size: usize,
    /// How many spans it has.
    pub spans: usize,
    /// Bytes of its spans.
    pub span_bytes: usize,
    /// Slots that the program has.
    pub live: usize,
    /// Free slots that threads keep, or that are kept for them.
    pub cached: usize,
}

/// What a heap has, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Addresses reserved.
    pub reserved: usize,
    /// Made usable so far.
    pub mapped: usize,
    /// In runs that are free.
    pub free: usize,
    /// Of these, what keeps its memory.
    pub free_resident: usize,
    /// Large objects that the program has, in whole pages.
    pub large_live: usize,
    /// Large objects that threads keep.
    pub large_cached: usize,
    /// Stacks that the program has, without their guards.
    pub stacks: usize,
    /// Stacks kept for the next who asks.
    pub stacks_cached: usize,
    /// The size classes by their numbers; number 0 has nothing.
    pub classes: [ClassUsage; COUNT],
}

impl Heap {
    /// What there is. Nobody uses the heap meanwhile, and `caches` are all that have slots of it.
    pub fn usage<'c>(&self, caches: impl Iterator<Item = &'c ThreadCache>) -> Usage {
        let stats = self.stats();
        let mut usage = Usage {
            reserved: stats.reserved,
            mapped: stats.usable,
            free: stats.free,
            free_resident: 0,
            large_live: 0,
            large_cached: 0,
            stacks: 0,
            stacks_cached: 0,
            classes: [ClassUsage::default(); COUNT],
        };
        let Some(arena) = self.arena() else { return usage };
        usage.free_resident = self.page_heap().lock().dirty_pages() as usize * PAGE_SIZE;
        each_span(arena, |page| {
            let span = arena.span(page);
            let bytes = span.pages.get() as usize * PAGE_SIZE;
            match span.state() {
                State::Small => {
                    if let Some(class) = usage.classes.get_mut(span.class().index()) {
                        class.spans += 1;
                        class.span_bytes += bytes;
                        class.live += span.used.get() as usize * span.class().slot_size();
                    }
                }
                State::Large => usage.large_live += bytes,
                State::Stack => usage.stacks += bytes - PAGE_SIZE,
                State::StackIdle => usage.stacks_cached += bytes - PAGE_SIZE,
                State::None | State::Free => {}
            }
        });
        self.count_cached(&mut usage, caches);
        usage
    }

    /// Moves what is kept free from live to cached.
    fn count_cached<'c>(&self, usage: &mut Usage, caches: impl Iterator<Item = &'c ThreadCache>) {
        for cache in caches {
            usage.large_cached += cache.large_bytes();
            for class in SizeClass::all() {
                usage.add_cached(class, cache.bytes_of(class));
            }
        }
        for class in SizeClass::all() {
            let slots = self.central(class).lock().slots().count();
            usage.add_cached(class, slots * class.slot_size());
        }
        usage.large_live = usage.large_live.saturating_sub(usage.large_cached);
        let deferred = self.deferred.load(core::sync::atomic::Ordering::Acquire);
        let Some(arena) = self.arena() else { return };
        // SAFETY: nobody takes from the list meanwhile.
        for object in unsafe { chain(deferred) } {
            let page = arena.page_of(object.addr()).map_or(0, |page| arena.first_of(page));
            match arena.span(page).state() {
                State::Small => {
                    let class = arena.span(page).class();
                    usage.add_cached(class, class.slot_size());
                }
                _ => {
                    let bytes = arena.span(page).pages.get() as usize * PAGE_SIZE;
                    usage.large_live = usage.large_live.saturating_sub(bytes);
                    usage.large_cached += bytes;
                }
            }
        }
    }
}

impl Usage {
    fn add_cached(&mut self, class: SizeClass, bytes: usize) {
        if let Some(usage) = self.classes.get_mut(class.index()) {
            usage.slot_size = class.slot_size();
            usage.cached += bytes;
            usage.live = usage.live.saturating_sub(bytes);
        }
    }
}
