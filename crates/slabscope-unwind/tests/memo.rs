//! Stacks told from what their thread walked before, beside those that are walked.

mod support;

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

use support::recall;

/// A sequence of numbers that looks random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) % end
    }
}

/// What became of a try.
#[derive(Default)]
struct Told {
    all: u32,
    /// After so many, nothing goes deeper.
    until: u32,
    recalled: u32,
    depth: usize,
}

impl Told {
    fn ask(&mut self) {
        self.all += 1;
        self.recalled += u32::from(recall(self.depth));
    }
}

/// Asks at some moments, and goes to some depth by frames of several sizes.
#[inline(never)]
fn wander(left: usize, numbers: &mut Numbers, told: &mut Told) -> u64 {
    let small = [left as u64; 3];
    let mut sum = black_box(&small).iter().sum();
    for _ in 0..numbers.below(4) {
        match numbers.below(5) {
            _ if left == 0 || told.all >= told.until => told.ask(),
            0 => told.ask(),
            1 => sum += wander(left - 1, numbers, told),
            2 => sum += wide(left - 1, numbers, told),
            3 => sum += (0..2).map(|_| wander(left - 1, numbers, told)).sum::<u64>(),
            _ => sum += as_long_as(numbers.below(200) as usize, left - 1, numbers, told),
        }
    }
    sum
}

#[inline(never)]
fn wide(left: usize, numbers: &mut Numbers, told: &mut Told) -> u64 {
    let large = [left as u64; 100];
    told.ask();
    wander(left, numbers, told) + black_box(&large)[left % 100]
}

/// A frame whose size is known at run time only, on the C library's side.
#[inline(never)]
fn as_long_as(len: usize, left: usize, numbers: &mut Numbers, told: &mut Told) -> u64 {
    let mut numbers_to_sort = [len as i32, 3, 2, 1];
    extern "C" fn order(a: *const libc::c_void, b: *const libc::c_void) -> libc::c_int {
        ASKED.fetch_add(recall(16).into(), Ordering::Relaxed);
        // SAFETY: `qsort` passes two elements of the array.
        unsafe { *a.cast::<i32>() - *b.cast::<i32>() }
    }
    // SAFETY: the array has so many elements of that size.
    unsafe { libc::qsort(numbers_to_sort.as_mut_ptr().cast(), 4, 4, Some(order)) };
    wander(left, numbers, told) + numbers_to_sort[0] as u64
}

static ASKED: AtomicUsize = AtomicUsize::new(0);

#[test]
fn what_is_told_from_walks_before_is_what_is_walked() {
    for depth in [1, 2, 5, 16, 32] {
        let mut told = Told { depth, ..Told::default() };
        for seed in 0..300 {
            for left in [3, 12, 40] {
                told.until = told.all + 500;
                black_box(wander(left, &mut Numbers(seed), &mut told));
            }
        }
        println!("{depth} frames: {} of {}", told.recalled, told.all);
        assert!(told.all > 1000 && told.recalled * 10 > told.all * 9, "{}", told.recalled);
    }
    assert!(ASKED.load(Ordering::Relaxed) > 100);
}

/// Up and down, farther than there is room for.
#[inline(never)]
fn dive(left: usize, told: &mut Told) -> u64 {
    told.ask();
    let sum = if left == 0 { 0 } else { dive(left - 1, told) };
    told.ask();
    sum + black_box(left as u64)
}

#[test]
fn deep_recursion_is_told_on_the_way_down_and_up() {
    let mut told = Told { depth: 16, ..Told::default() };
    for depth in [10, 100, 1000] {
        dive(depth, &mut told);
    }
    assert!(told.recalled + 70 > told.all, "{} of {}", told.recalled, told.all);
}

#[test]
fn a_thread_s_other_stacks_and_deeper_walks_are_not_told() {
    let mut told = Told { depth: 64, ..Told::default() };
    dive(100, &mut told);
    assert_eq!(told.recalled, 0);
}
