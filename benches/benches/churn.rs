//! Many live blocks of mixed sizes, one replaced at random at each step: caches, spans and memory.

use std::alloc::GlobalAlloc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use slabscope_benches::{Block, Random, Workload, compare};

/// Live blocks: what the first-level cache holds, and far more than the second.
const LIVE: [usize; 2] = [1_000, 100_000];

/// Replacements that one iteration makes.
const STEPS: usize = 1_000;

struct Churn<'a> {
    criterion: &'a mut Criterion,
    live: usize,
}

impl Workload for Churn<'_> {
    fn measure<A: GlobalAlloc>(&mut self, name: &str, allocator: &A) {
        let live = self.live;
        let mut random = Random::new(7);
        let mut blocks: Vec<Block<'_, A>> =
            (0..live).map(|_| Block::new(allocator, random.size())).collect();
        let mut group = self.criterion.benchmark_group("churn");
        group.throughput(Throughput::Elements(STEPS as u64));
        group.bench_function(BenchmarkId::new(name, live), |bencher| {
            bencher.iter(|| {
                for _ in 0..STEPS {
                    let place = random.next() as usize % live;
                    blocks[place] = Block::new(allocator, random.size());
                }
            });
        });
        group.finish();
    }
}

fn churn(criterion: &mut Criterion) {
    for live in LIVE {
        compare(&mut Churn { criterion, live });
    }
}

criterion_group!(benches, churn);
criterion_main!(benches);
