//! What the benchmarks share.
//!
//! Two kinds: those of `benches/` call allocators directly and are themselves built on the system's,
//! so that nothing but the calls is measured; they need a C compiler, for mimalloc. The programs of
//! `src/bin` each have another global allocator and run the [`workloads`].

pub mod workloads;

use std::alloc::{GlobalAlloc, Layout, handle_alloc_error};

/// Something to measure, for each allocator with its type known, as it is in a program.
pub trait Workload {
    /// Measures it with `allocator`, which reports call `name`.
    fn measure<A: GlobalAlloc>(&mut self, name: &str, allocator: &A);
}

/// Measures with ours, with the fastest in wide use, and with what a Rust program has that says
/// nothing.
#[cfg(feature = "mimalloc")]
pub fn compare(workload: &mut impl Workload) {
    workload.measure("slabscope", &slabscope::Slabscope::new());
    workload.measure("mimalloc", &mimalloc::MiMalloc);
    workload.measure("glibc", &std::alloc::System);
}

/// A block of memory, given back when it is dropped. Its first byte was written.
#[derive(Debug)]
pub struct Block<'a, A: GlobalAlloc> {
    allocator: &'a A,
    address: *mut u8,
    layout: Layout,
}

impl<'a, A: GlobalAlloc> Block<'a, A> {
    /// A block of `size` bytes, at least one, aligned to 8.
    #[inline]
    pub fn new(allocator: &'a A, size: usize) -> Self {
        let Ok(layout) = Layout::from_size_align(size.max(1), 8) else {
            panic!("{size} bytes are more than there can be");
        };
        // SAFETY: the size is not zero.
        let address = unsafe { allocator.alloc(layout) };
        if address.is_null() {
            handle_alloc_error(layout);
        }
        // SAFETY: the block has at least one byte and is ours.
        unsafe { address.write_volatile(1) };
        Block { allocator, address, layout }
    }
}

impl<A: GlobalAlloc> Drop for Block<'_, A> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: `new` got the address from this allocator with this layout, and it is given back
        // once.
        unsafe { self.allocator.dealloc(self.address, self.layout) };
    }
}

/// Numbers that look random and are the same in every run.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence that belongs to `seed`.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The next number (splitmix64, by Sebastiano Vigna).
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "an endless sequence needs no Option")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A size in bytes as programs ask for them: mostly below 100, seldom some thousands.
    #[inline]
    pub fn size(&mut self) -> usize {
        let bits = self.next();
        // The trailing ones of a random number halve in frequency with each bit.
        let doublings = (bits.trailing_ones() / 2).min(8);
        let base = 16 + (bits >> 32) as usize % 64;
        base << doublings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_mostly_small() {
        let mut random = Random::new(1);
        let sizes: Vec<usize> = (0..10_000).map(|_| random.size()).collect();
        let small = sizes.iter().filter(|&&size| size < 100).count();
        assert!((6_000..9_000).contains(&small), "{small}");
        assert!(sizes.iter().all(|&size| (16..=79 << 8).contains(&size)));
        assert!(sizes.iter().any(|&size| size > 1_000));
    }
}
