//! The ends of what a heap can do: no memory, odd sizes, large alignments, and misuse.

use std::process::Command;

use slabscope_heap::{ALIGN_MAX, Heap, ThreadCache};

#[test]
fn a_full_heap_gives_null_and_recovers() {
    let heap = Heap::with_arena_max(64 << 20);
    let mut cache = ThreadCache::new();
    for size in [8, 1000, 30_000, 1 << 20] {
        let mut objects = Vec::new();
        loop {
            let object = heap.alloc(&mut cache, size, 8, &mut ());
            if object.is_null() {
                break;
            }
            objects.push(object);
        }
        assert!(objects.len() * size > 40 << 20, "{} of {size}", objects.len());
        // What is left between objects of 1 MiB holds a small stack.
        let stack = if size == 1 << 20 { 2 << 20 } else { 64 << 10 };
        assert!(heap.alloc_stack(stack, &mut ()).is_none());
        assert!(heap.alloc_zeroed(&mut cache, 1 << 21, 8, &mut ()).is_null());
        heap.check().unwrap();
        for object in objects {
            // SAFETY: it came from this heap with this layout, and is freed once.
            unsafe { heap.dealloc(&mut cache, object, size, 8, &mut ()) };
        }
        heap.flush(&mut cache, &mut ());
        heap.trim(&mut ());
        assert_eq!(heap.check().unwrap().used, 0);
    }
}

#[test]
fn absurd_sizes_and_alignments_give_null() {
    let heap = Heap::new();
    let mut cache = ThreadCache::new();
    for size in [1 << 40, isize::MAX as usize, isize::MAX as usize - 8191] {
        assert!(heap.alloc(&mut cache, size, 8, &mut ()).is_null());
        assert!(heap.alloc_zeroed(&mut cache, size, 8, &mut ()).is_null());
        assert!(heap.alloc_reentrant(size, 8, &mut ()).is_null());
    }
    assert!(heap.alloc(&mut cache, 8, ALIGN_MAX * 2, &mut ()).is_null());
    assert!(heap.alloc_stack(usize::MAX, &mut ()).is_none());
    heap.check().unwrap();
}

#[test]
fn every_alignment_is_served() {
    let heap = Heap::new();
    let mut cache = ThreadCache::new();
    for log in 0..=30 {
        let align = 1_usize << log;
        let object = heap.alloc(&mut cache, 100, align, &mut ());
        assert!(!object.is_null(), "{align}");
        assert_eq!(object.addr() % align, 0);
        let reentrant = heap.alloc_reentrant(100, align, &mut ());
        assert_eq!(reentrant.addr() % align, 0);
        // SAFETY: both came from this heap with this layout, and are freed once.
        unsafe {
            object.write_bytes(1, 100);
            reentrant.write_bytes(1, 100);
            heap.dealloc(&mut cache, object, 100, align, &mut ());
            heap.dealloc(&mut cache, reentrant, 100, align, &mut ());
        }
    }
    heap.flush(&mut cache, &mut ());
    heap.trim(&mut ());
    assert_eq!(heap.check().unwrap().used, 0);
}

#[test]
fn eight_gib_of_zeros_cost_nothing() {
    let heap = Heap::new();
    let mut cache = ThreadCache::new();
    let resident = || {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap();
        text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
    };
    let before = resident();
    let object = heap.alloc_zeroed(&mut cache, 8 << 30, 8, &mut ());
    assert!(!object.is_null());
    // SAFETY: the object is ours, and these bytes are inside it; it is freed once.
    unsafe {
        assert_eq!(*object, 0);
        *object.add((8 << 30) - 1) = 1;
        heap.dealloc(&mut cache, object, 8 << 30, 8, &mut ());
    }
    let again = heap.alloc_zeroed(&mut cache, 8 << 30, 8, &mut ());
    // SAFETY: as above.
    unsafe { assert_eq!(*again.add((8 << 30) - 1), 0) };
    assert!(resident() < before + (64 << 20), "{} to {}", before, resident());
}

#[test]
fn large_objects_grow_and_shrink_where_they_lie() {
    let heap = Heap::with_arena_max(256 << 20);
    let mut cache = ThreadCache::new();
    let object = heap.alloc(&mut cache, 100_000, 8, &mut ());
    // SAFETY: the object has the size that each call is told.
    unsafe {
        assert!(heap.resize_in_place(object, 100_000, 8, 10_000_000, &mut ()), "nothing is behind");
        let behind = heap.alloc(&mut cache, 50_000, 8, &mut ());
        *object.add(9_999_999) = 5;
        assert!(
            !heap.resize_in_place(object, 10_000_000, 8, 20_000_000, &mut ()) || behind < object
        );
        assert!(heap.resize_in_place(object, 10_000_000, 8, 40_000, &mut ()));
        assert!(!heap.resize_in_place(object, 40_000, 8, 100, &mut ()), "a slot is not a span");
        heap.check().unwrap();
        heap.dealloc(&mut cache, object, 40_000, 8, &mut ());
        heap.dealloc(&mut cache, behind, 50_000, 8, &mut ());
    }
    heap.flush(&mut cache, &mut ());
    assert_eq!(heap.check().unwrap().used, 0);
}

#[test]
fn what_was_freed_is_whole_again() {
    const OBJECTS: usize = 200_000;
    const BUFFER: usize = 16 << 20;
    let heap = Heap::with_arena_max(256 << 20);
    let mut cache = ThreadCache::new();
    let mut objects: Vec<_> = (0..OBJECTS)
        .map(|n| (heap.alloc(&mut cache, 16 + n % 97, 8, &mut ()), 16 + n % 97))
        .collect();
    let buffer = heap.alloc(&mut cache, BUFFER, 8, &mut ());
    // In no order, so that what is kept of them lies far apart.
    objects.sort_by_key(|&(object, _)| object.addr().wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let usable = heap.stats().usable;
    for (object, size) in objects {
        // SAFETY: it came from this heap with this layout, and is freed once.
        unsafe { heap.dealloc(&mut cache, object, size, 8, &mut ()) };
    }
    // SAFETY: as above.
    unsafe { heap.dealloc(&mut cache, buffer, BUFFER, 8, &mut ()) };
    let census = heap.check().unwrap();
    assert!(census.spans < 100, "{census:?}");
    assert!(!heap.alloc(&mut cache, BUFFER + (8 << 20), 8, &mut ()).is_null());
    assert_eq!(heap.stats().usable, usable);
}

#[test]
fn objects_that_are_used_in_turn_lie_apart() {
    let heap = Heap::with_arena_max(256 << 20);
    let mut cache = ThreadCache::new();
    let mut objects: Vec<_> =
        (0..64).map(|_| heap.alloc(&mut cache, 256 << 10, 8, &mut ()).addr()).collect();
    objects.sort();
    let mut places: Vec<_> = objects.iter().map(|address| address % (64 << 10)).collect();
    places.sort();
    places.dedup();
    assert!(places.len() >= 8, "{places:?}");
    heap.check().unwrap();
}

/// What a program might do wrong, by name; run in a process of its own, since it ends the process.
const MISUSES: [(&str, &str); 7] = [
    ("foreign", "not one of this heap"),
    ("interior", "not one of this heap"),
    ("size", "another size or alignment"),
    ("large_twice", "was freed before"),
    ("small_twice", "freed twice"),
    ("small_twice_at_once", "freed twice"),
    ("write_after_free", "written to after it was freed"),
];

#[test]
fn misuse_ends_the_program_with_words() {
    let me = std::env::current_exe().unwrap();
    for (misuse, words) in MISUSES {
        let child = Command::new(&me)
            .args(["--exact", "misuse_in_a_child", "--nocapture"])
            .env("SLABSCOPE_HEAP_MISUSE", misuse)
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&child.stderr);
        assert!(!child.status.success(), "{misuse}");
        assert!(stderr.contains(words), "{misuse}: {stderr}");
    }
}

#[test]
fn misuse_in_a_child() {
    let Ok(misuse) = std::env::var("SLABSCOPE_HEAP_MISUSE") else { return };
    let heap = Heap::new();
    let mut cache = ThreadCache::new();
    let small = heap.alloc(&mut cache, 100, 8, &mut ());
    let large = heap.alloc(&mut cache, 100_000, 8, &mut ());
    let mut foreign = [0_u64; 16];
    // SAFETY: none; that is what is tested. The heap must end the program before harm is done.
    unsafe {
        match misuse.as_str() {
            "foreign" => heap.dealloc(&mut cache, foreign.as_mut_ptr().cast(), 100, 8, &mut ()),
            "interior" => heap.dealloc(&mut cache, small.add(8), 100, 8, &mut ()),
            "size" => heap.dealloc(&mut cache, small, 200, 8, &mut ()),
            "large_twice" => {
                heap.dealloc(&mut cache, large, 100_000, 8, &mut ());
                heap.dealloc(&mut cache, large, 100_000, 8, &mut ());
            }
            "small_twice" => {
                heap.dealloc(&mut cache, small, 100, 8, &mut ());
                heap.flush(&mut cache, &mut ());
                heap.dealloc(&mut cache, small, 100, 8, &mut ());
            }
            "small_twice_at_once" => {
                // Other slots of the span are in use, so that it does not empty before its time.
                heap.alloc(&mut cache, 100, 8, &mut ());
                heap.dealloc(&mut cache, small, 100, 8, &mut ());
                heap.dealloc(&mut cache, small, 100, 8, &mut ());
            }
            "write_after_free" => {
                let more = heap.alloc(&mut cache, 100, 8, &mut ());
                heap.dealloc(&mut cache, more, 100, 8, &mut ());
                heap.dealloc(&mut cache, small, 100, 8, &mut ());
                small.cast::<u64>().write(0);
                for _ in 0..2 {
                    heap.alloc(&mut cache, 100, 8, &mut ());
                }
            }
            other => panic!("{other}?"),
        }
    }
    heap.flush(&mut cache, &mut ());
    heap.trim(&mut ());
}
