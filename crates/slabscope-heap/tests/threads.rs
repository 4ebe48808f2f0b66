//! Many threads on one heap: objects are handed on and freed elsewhere, threads end with full caches.

use std::sync::{Barrier, mpsc};
use std::thread;

use slabscope_heap::{Heap, ThreadCache};

/// An object on its way to another thread.
struct Parcel {
    address: *mut u8,
    size: usize,
    align: usize,
    fill: u8,
}

// SAFETY: a parcel is memory with one owner.
unsafe impl Send for Parcel {}

/// A small generator of our own kind, so that a failure can be run again (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    fn layout(&mut self) -> (usize, usize) {
        let align = 1 << self.below(8);
        let size = match self.below(100) {
            0..80 => self.below(500),
            80..98 => self.below(33_000),
            _ => 33_000 + self.below(300_000),
        };
        (size as usize, align)
    }
}

fn make(heap: &Heap, cache: &mut ThreadCache, random: &mut Random) -> Parcel {
    let (size, align) = random.layout();
    let fill = random.below(256) as u8;
    let address = heap.alloc(cache, size, align, &mut ());
    assert!(!address.is_null());
    assert_eq!(address.addr() % align, 0);
    // SAFETY: the object is ours and has `size` bytes.
    unsafe { address.write_bytes(fill, size) };
    Parcel { address, size, align, fill }
}

fn unmake(heap: &Heap, cache: &mut ThreadCache, parcel: Parcel) {
    // SAFETY: whoever has the parcel has the object, with this layout.
    unsafe {
        let bytes = std::slice::from_raw_parts(parcel.address, parcel.size);
        assert!(bytes.iter().all(|&byte| byte == parcel.fill), "somebody else wrote to it");
        heap.dealloc(cache, parcel.address, parcel.size, parcel.align, &mut ());
    }
}

#[test]
fn objects_freed_by_other_threads_come_back_whole() {
    const THREADS: usize = 8;
    const ROUNDS: usize = 4;
    const OPS: usize = 8_000;
    let heap = Heap::new();
    for round in 0..ROUNDS {
        let (senders, receivers): (Vec<_>, Vec<_>) =
            (0..THREADS).map(|_| mpsc::channel::<Parcel>()).unzip();
        thread::scope(|scope| {
            for (index, inbox) in receivers.into_iter().enumerate() {
                let (heap, senders) = (&heap, senders.clone());
                scope.spawn(move || {
                    let mut random = Random(1 + (round * THREADS + index) as u64 * 7919);
                    let mut cache = ThreadCache::new();
                    let mut own = Vec::new();
                    for _ in 0..OPS {
                        let parcel = make(heap, &mut cache, &mut random);
                        match random.below(3) {
                            0 => own.push(parcel),
                            1 => {
                                let to = random.below(THREADS as u64) as usize;
                                if let Err(back) = senders[to].send(parcel) {
                                    unmake(heap, &mut cache, back.0);
                                }
                            }
                            _ => unmake(heap, &mut cache, parcel),
                        }
                        if own.len() > 300 {
                            let at = random.below(own.len() as u64) as usize;
                            unmake(heap, &mut cache, own.swap_remove(at));
                        }
                        while let Ok(parcel) = inbox.try_recv() {
                            unmake(heap, &mut cache, parcel);
                        }
                    }
                    drop(senders);
                    for parcel in own.drain(..).chain(inbox) {
                        unmake(heap, &mut cache, parcel);
                    }
                    heap.flush(&mut cache, &mut ());
                });
            }
            drop(senders);
        });
        heap.trim(&mut ());
        let census = heap.check().unwrap();
        assert_eq!((census.used, census.spans), (0, 0), "round {round}");
    }
}

#[test]
fn of_spans_that_are_made_at_once_none_stays_unused() {
    const THREADS: usize = 4;
    let heap = Heap::with_arena_max(64 << 20);
    let barrier = Barrier::new(THREADS);
    for round in 0..2_000 {
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    let mut cache = ThreadCache::new();
                    barrier.wait();
                    let object = heap.alloc(&mut cache, 4096, 8, &mut ());
                    barrier.wait();
                    // SAFETY: it was just allocated, and is freed once.
                    unsafe { heap.dealloc(&mut cache, object, 4096, 8, &mut ()) };
                    heap.flush(&mut cache, &mut ());
                });
            }
        });
        heap.trim(&mut ());
        assert_eq!(heap.check().unwrap().spans, 0, "round {round}");
    }
}

#[test]
fn two_that_come_first_share_one_arena() {
    for _ in 0..50 {
        let heap = Heap::with_arena_max(64 << 20);
        let bases: Vec<usize> = thread::scope(|scope| {
            let base = || scope.spawn(|| heap.base());
            let threads: Vec<_> = (0..4).map(|_| base()).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(bases[0] != 0 && bases.iter().all(|&base| base == bases[0]));
    }
}

#[test]
fn reentrant_operations_beside_ordinary_ones() {
    let heap = Heap::new();
    thread::scope(|scope| {
        for seed in 1..=2 {
            let heap = &heap;
            scope.spawn(move || {
                let mut random = Random(seed);
                let mut cache = ThreadCache::new();
                for _ in 0..20_000 {
                    let parcel = make(heap, &mut cache, &mut random);
                    unmake(heap, &mut cache, parcel);
                }
                heap.flush(&mut cache, &mut ());
            });
            scope.spawn(move || {
                let mut random = Random(seed * 31);
                for _ in 0..2_000 {
                    let (size, align) = random.layout();
                    let object = heap.alloc_reentrant(size, align, &mut ());
                    assert!(!object.is_null());
                    // SAFETY: the object is ours and has `size` bytes; it is freed once.
                    unsafe {
                        object.write_bytes(7, size);
                        heap.dealloc_reentrant(object, size, align);
                    }
                }
            });
        }
    });
    heap.flush(&mut ThreadCache::new(), &mut ());
    heap.trim(&mut ());
    let census = heap.check().unwrap();
    assert_eq!((census.used, census.spans), (0, 0));
}
