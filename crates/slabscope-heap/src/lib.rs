//! The slabscope heap: size classes, spans, page heap, thread caches, stacks.
//!
//! A [`Heap`] is a value that owns one range of addresses and knows nothing of threads, of tracing
//! or of the program's global allocator. Whoever uses it brings a [`ThreadCache`] for each thread and
//! an [`Observer`] that is told of spans as they come and go.
//!
//! ```
//! use slabscope_heap::{Heap, ThreadCache};
//!
//! let heap = Heap::new();
//! let mut cache = ThreadCache::new();
//! // SAFETY: the size and alignment at the free are those of the allocation, and it is freed once.
//! unsafe {
//!     let object = heap.alloc(&mut cache, 100, 8, &mut ());
//!     assert!(!object.is_null());
//!     heap.dealloc(&mut cache, object, 100, 8, &mut ());
//! }
//! heap.flush(&mut cache, &mut ());
//! ```
//!
//! From the bottom up: `arena` hands out fresh pages, `page_heap` runs of pages, `central` slots
//! of one size class, `thread_cache` slots to one thread without a lock. Objects above 32 KiB and
//! stacks come straight from the page heap. The shape is that of tcmalloc and of Go's runtime.
//!
//! # Misuse
//! What is noticed ends the program with a line that says what is wrong. The fast path looks at the
//! size, the alignment and the first list of the cache, and at nothing else: so what happens there is
//! noticed later, or not at all. "On return" is when a slot goes back from a list to its span: when a
//! list of its class overflows and there is no room for it in the central list, or in
//! [`Heap::trim`]. One slot of each list is looked at already when the list leaves the thread.
//!
//! | misuse | noticed |
//! |---|---|
//! | free of a pointer that is not the heap's, up to 32 KiB | on return, unless it was given out again |
//! | the same, above 32 KiB | at once |
//! | free of a pointer into an object | on return if it is no slot's start; a large object's at once |
//! | wrong size or alignment, another class | on return, unless the slot was given out again |
//! | wrong size, same class or same number of pages | no, and it does no harm |
//! | second free of a large object | at once, unless it was given out again |
//! | second free of a small object | on return, if its span has no used slot left or is gone |
//! | second free while the first is still in the thread's list | when the list goes back to spans, unless the slot was given out twice before |
//! | write after free | if it cuts a list short, when that has run out; the links are plain addresses, and following a broken one may fault |
//! | write past the end | no |
//!
//! Links are not encoded: to decode one costs every allocation two instructions more of 25, in the middle
//! of the one chain of loads that it waits for. Instead a list's links are held against its count where
//! lists run out or go back.
#![no_std]

#[cfg(test)]
extern crate std;

mod arena;
mod central;
mod check;
mod class;
mod decay;
mod dirty_limit;
mod ebb;
mod front;
mod heap;
mod kept_large;
mod large;
mod observer;
mod page_heap;
mod reentrant;
mod relaxed;
mod slot;
mod small;
mod snapshot;
mod span;
mod span_list;
mod stack;
mod thread_cache;
mod usage;

pub use check::{Broken, Census};
pub use class::{slot_size, slot_size_plain};
pub use front::{CLOSED, Closed, Front};
pub use heap::{Heap, Stats};
pub use observer::{Observer, SpanInfo, SpanKind};
pub use snapshot::Existing;
pub use stack::StackMemory;
pub use thread_cache::ThreadCache;
pub use usage::{ClassUsage, Usage};

/// Size of a page of the heap, in bytes.
pub const PAGE_SIZE: usize = slabscope_wire::alloc_free::PAGE_SIZE as usize;

/// The largest alignment served, in bytes.
pub const ALIGN_MAX: usize = 1 << 30;

/// Alignments up to this need no thought: every slot has it.
pub const ALIGN_PLAIN: usize = 8;
