//! A block taken and given back at once: the fast path and nothing else.

use std::alloc::GlobalAlloc;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use slabscope_benches::{Block, Workload, compare};

/// A small, a middling and the largest size that has a class, and one above.
const SIZES: [usize; 4] = [32, 512, 32_768, 131_072];

struct Pair<'a> {
    criterion: &'a mut Criterion,
    size: usize,
}

impl Workload for Pair<'_> {
    fn measure<A: GlobalAlloc>(&mut self, name: &str, allocator: &A) {
        let size = self.size;
        let mut group = self.criterion.benchmark_group("alloc_free");
        group.bench_function(BenchmarkId::new(name, size), |bencher| {
            bencher.iter(|| drop(black_box(Block::new(allocator, black_box(size)))));
        });
        group.finish();
    }
}

fn alloc_free(criterion: &mut Criterion) {
    for size in SIZES {
        compare(&mut Pair { criterion, size });
    }
}

criterion_group!(benches, alloc_free);
criterion_main!(benches);
