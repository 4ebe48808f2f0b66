//! Memory that was used comes back: after a peak, after threads; and where there is none, null.
#![cfg(feature = "recorder")]

mod support;

use std::alloc::{GlobalAlloc, Layout, alloc, alloc_zeroed, dealloc};
use std::hint::black_box;
use std::os::unix::process::ExitStatusExt;

use support::{Traces, child, replay, succeed};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

/// Resident bytes of this process.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("the kernel says");
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.expect("a number") * 4096
}

#[test]
fn a_peak_of_one_gibibyte_falls_to_little() {
    for peak in ["small_peak", "mixed_peak", "large_peak", "scattered_peak"] {
        succeed(&mut child(peak, None));
    }
}

/// Takes one gibibyte in objects of these sizes in turn, gives it back in an order that is neither,
/// and looks.
fn rise_and_fall(sizes: &[usize]) {
    let mut objects: Vec<Vec<u8>> = Vec::with_capacity((1 << 30) / sizes[0]);
    let mut bytes = 0;
    for &size in sizes.iter().cycle() {
        if bytes > 1 << 30 {
            break;
        }
        objects.push(vec![1; size]);
        bytes += size;
    }
    assert!(resident() > 1 << 30);
    for start in 0..7 {
        objects.iter_mut().skip(start).step_by(7).for_each(|object| *object = Vec::new());
    }
    drop(black_box(objects));
    let rest = resident();
    assert!(rest < 64 << 20, "{rest} bytes are left");
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn small_peak() {
    rise_and_fall(&[200]);
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn mixed_peak() {
    rise_and_fall(&[64, 100, 3000, 20_000, 700, 50_000, 8192]);
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn large_peak() {
    rise_and_fall(&[300_000, 40_000_000, 5_000_000, 70_000]);
}

/// Takes one gibibyte in objects of sizes of all kinds, gives it back in random order, and looks.
#[test]
#[ignore = "run by its parent, in a process of its own"]
fn scattered_peak() {
    let mut random = 1_u64;
    let mut next = move || {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize
    };
    let mut objects: Vec<Vec<u8>> = Vec::with_capacity(4 << 20);
    let mut bytes = 0;
    while bytes < 1 << 30 {
        let size = 8 + (next() % (16 << (next() % 8)));
        objects.push(vec![1; size]);
        bytes += size;
    }
    for last in (1..objects.len()).rev() {
        objects.swap(last, next() % (last + 1));
    }
    assert!(resident() > 1 << 30);
    let table = objects.capacity() * size_of::<Vec<u8>>();
    objects.clear();
    let rest = resident();
    // Of what is free in short runs as much is kept as is in use, which is the table.
    assert!(rest < (64 << 20) + 2 * table, "{rest} bytes are left");
}

#[test]
fn spans_return_in_the_trace() {
    let traces = Traces::new();
    let path = traces.path("peak.trace");
    let variable = format!("traceallocfree=1,out={}", path.display());
    succeed(&mut child("traced_peak", Some(&variable)));
    let replayed = replay(&path);
    let [_, span_allocs, span_frees, ..] = replayed.counts;
    assert!(span_allocs > 1200, "{span_allocs} spans were allocated");
    assert!(span_allocs - span_frees < 300, "{span_frees} of {span_allocs} spans were freed");
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn traced_peak() {
    let objects: Vec<Vec<u8>> = (0..100_000).map(|n| vec![n as u8; 100]).collect();
    drop(black_box(objects));
}

#[test]
fn a_hundred_thousand_threads_leave_nothing_behind() {
    succeed(&mut child("threads", None));
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn threads() {
    let run = |count: usize| {
        for n in 0..count {
            let live =
                move || (0..n % 50).map(|k| vec![k as u8; 10 + n % 3000]).collect::<Vec<_>>();
            let made = std::thread::spawn(live).join().expect("it ends well");
            assert_eq!(made.len(), n % 50);
        }
    };
    run(3_000);
    let before = resident();
    run(100_000);
    let grown = resident().saturating_sub(before);
    assert!(grown < 4 << 20, "{grown} bytes more");
}

#[test]
fn eight_gibibytes_of_zeros_touch_nothing() {
    let layout = Layout::from_size_align(8 << 30, 8).expect("a layout");
    let before = resident();
    // SAFETY: the layout has a size; the object is used within it and freed once.
    unsafe {
        let zeros = alloc_zeroed(layout);
        assert!(!zeros.is_null());
        assert_eq!((*zeros, *zeros.add(layout.size() - 1)), (0, 0));
        assert!(resident() < before + (16 << 20));
        dealloc(zeros, layout);
    }
}

#[test]
fn every_alignment_up_to_a_gibibyte() {
    for log in 0..=30 {
        for size in [1, 24, 5000] {
            let layout = Layout::from_size_align(size, 1 << log).expect("a layout");
            // SAFETY: the layout has a size; the object is used within it and freed once.
            unsafe {
                let object = alloc(layout);
                assert!(!object.is_null() && object.addr().is_multiple_of(1 << log), "{layout:?}");
                object.write_bytes(1, size);
                let grown = std::alloc::realloc(object, layout, 2 * size);
                assert!(!grown.is_null() && grown.addr().is_multiple_of(1 << log), "{layout:?}");
                assert_eq!((*grown, *grown.add(size - 1)), (1, 1));
                dealloc(grown, Layout::from_size_align_unchecked(2 * size, 1 << log));
            }
        }
    }
}

#[test]
fn absurd_layouts_give_null() {
    for (size, align) in [(isize::MAX as usize - 7, 8), (1 << 60, 4096), (8, 1 << 40)] {
        let layout = Layout::from_size_align(size, align).expect("a layout");
        // SAFETY: the layout has a size.
        unsafe {
            assert!(GLOBAL.alloc(layout).is_null());
            assert!(GLOBAL.alloc_zeroed(layout).is_null());
            let small = Layout::from_size_align_unchecked(8, 8);
            let object = GLOBAL.alloc(small);
            object.cast::<u64>().write(5);
            if align == 8 {
                assert!(GLOBAL.realloc(object, small, size).is_null());
            }
            assert_eq!(object.cast::<u64>().read(), 5, "a failed realloc leaves the object");
            GLOBAL.dealloc(object, small);
        }
    }
}

#[test]
fn without_memory_the_program_is_told() {
    let output = child("runs_out", None).output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{stderr}");
    assert!(stderr.contains("memory allocation of 1048576 bytes failed"), "{stderr}");
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn runs_out() {
    // The records of the heap's pages count, although they are hardly ever touched.
    let limit = libc::rlimit { rlim_cur: 8 << 30, rlim_max: 8 << 30 };
    // SAFETY: the limit is a valid one.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_DATA, &raw const limit) }, 0);
    let mut all: Vec<Vec<u8>> = Vec::with_capacity(1 << 20);
    for _ in 0..1 << 20 {
        all.push(Vec::with_capacity(1 << 20));
    }
    panic!("{} MiB were given", all.len());
}
