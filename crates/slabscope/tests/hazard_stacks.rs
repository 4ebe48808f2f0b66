//! Stacks of the heap under real coroutines and under threads.
#![cfg(feature = "recorder")]

mod support;

use corosensei::{Coroutine, CoroutineResult};
use slabscope::stack::Stack;
use slabscope::thread::Builder;
use support::{Traces, child, replay, succeed};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

type Worker = Coroutine<u64, u64, u64, Stack>;

/// Adds what it is sent, on some depth of its stack, and allocates while it does.
fn worker(stack: Stack, rounds: u64) -> Worker {
    Coroutine::with_stack(stack, move |yielder, mut sent| {
        let mut sum = 0;
        for _ in 0..rounds {
            let words = [sent; 32];
            let kept: Vec<u64> = words.iter().map(|word| word % 3).collect();
            sum += kept.iter().sum::<u64>();
            sent = yielder.suspend(sum);
        }
        sum
    })
}

#[test]
fn a_million_switches_on_pooled_stacks() {
    const AT_ONCE: usize = 8;
    const ROUNDS: u64 = 50;
    let mut switches = 0;
    let mut sent = 1_u64;
    while switches < 1_000_000 {
        let stacks = (0..AT_ONCE).map(|_| Stack::new(32 << 10).expect("memory for a stack"));
        let mut workers: Vec<Worker> = stacks.map(|stack| worker(stack, ROUNDS)).collect();
        let mut returned = 0;
        while returned < workers.len() {
            for worker in &mut workers {
                sent = sent.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                switches += 2;
                if let CoroutineResult::Return(sum) = worker.resume(sent) {
                    assert!(sum <= ROUNDS * 64);
                    returned += 1;
                }
            }
        }
        workers.into_iter().for_each(|worker| drop(worker.into_stack()));
    }
    let (used, kept) = slabscope::stats().stacks();
    assert!(used + kept <= 64 * AT_ONCE * (32 << 10), "{used} bytes used, {kept} kept");
}

#[test]
fn threads_on_stacks_of_the_heap_return_panic_and_are_left_alone() {
    let traces = Traces::new();
    let path = traces.path("stacks.trace");
    let variable = format!("traceallocfree=1,out={}", path.display());
    succeed(&mut child("threads", Some(&variable)));
    let replayed = replay(&path);
    assert_eq!(replayed.lost(), 0);
    let made = replayed.counts[7];
    assert!(made >= 300, "{made} stacks");
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn threads() {
    for n in 0..300_usize {
        let builder = Builder::new().name("on the heap").stack_size(64 << 10);
        let thread = builder.spawn(move || vec![n; 1000].iter().sum::<usize>()).expect("it starts");
        if n % 3 > 0 {
            assert_eq!(thread.join().expect("it ends well"), 1000 * n);
        }
    }
    let name = || std::fs::read_to_string("/proc/thread-self/comm").expect("the kernel says");
    let thread = Builder::new().name("a name that is too long").spawn(name).expect("it starts");
    assert_eq!(thread.join().expect("it ends well"), "a name that is \n");
    let panics = Builder::new().spawn(|| -> u32 { std::panic::resume_unwind(Box::new(7)) });
    let panic = panics.expect("it starts").join().expect_err("it panics");
    assert_eq!(panic.downcast_ref(), Some(&7));
    assert!(Builder::new().name("nul\0").spawn(|| ()).is_err());
    assert!(Builder::new().stack_size(usize::MAX).spawn(|| ()).is_err());
}
