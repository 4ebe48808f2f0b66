//! Allocations of sizes that nothing else asks for, and who the `backtrace` crate says asked.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;
use std::sync::Mutex;

use slabscope_trace::alloc_free::StackFrame;
use slabscope_wire::alloc_free::frame;

use super::Replayed;

/// What the `backtrace` crate found, by the size that was asked for: the callers of [`ask`].
static FOUND: Mutex<BTreeMap<usize, Vec<usize>>> = Mutex::new(BTreeMap::new());

/// The same, as it was read.
pub(crate) type Found = BTreeMap<u64, Vec<u64>>;

/// Allocates so much, and notes who called this, if nobody asked for it before.
#[inline(never)]
pub(crate) fn ask(size: usize) {
    drop(black_box(Vec::<u8>::with_capacity(black_box(size))));
    if FOUND.lock().unwrap().contains_key(&size) {
        return;
    }
    let mut callers = Vec::with_capacity(100);
    let mut inside = true;
    backtrace::trace(|frame| {
        if !inside && !frame.ip().is_null() {
            callers.push(frame.ip().addr());
        }
        inside &= frame.symbol_address().addr() != ask as *const () as usize;
        true
    });
    FOUND.lock().unwrap().insert(size, callers);
}

/// Goes so deep first.
#[inline(never)]
pub(crate) fn recurse(depth: usize, then: &dyn Fn()) -> usize {
    let local = black_box([depth; 9]);
    if depth == 0 {
        then();
    } else {
        recurse(depth - 1, then);
    }
    black_box(local).iter().sum()
}

/// Writes what was found to a file, for [`read`].
pub(crate) fn write(path: impl AsRef<Path>) {
    let mut text = String::new();
    for (size, callers) in &*FOUND.lock().unwrap() {
        writeln!(text, "{size} {callers:?}").unwrap();
    }
    std::fs::write(path, text).unwrap();
}

/// The callers by size.
pub(crate) fn read(path: &Path) -> Found {
    let text = std::fs::read_to_string(path).expect("what the program found");
    let line = |line: &str| {
        let (size, callers) = line.split_once(" [")?;
        let callers = callers.trim_end_matches(']').split(", ").map(|a| a.parse().unwrap());
        Some((size.parse().ok()?, callers.collect()))
    };
    text.lines().map(|text| line(text).expect("a size and addresses")).collect()
}

/// The stacks of all sites that ask for so many bytes.
pub(crate) fn stacks_of(replayed: &Replayed, size: usize) -> Vec<&[StackFrame]> {
    let sites = replayed.sites.iter().filter(|(_, site)| site.0 == size as u64);
    sites.map(|(id, _)| replayed.stacks_of.get(id).expect("a stack").as_slice()).collect()
}

/// Whether a stack, behind some frames of its own, is that of these callers, and ends with them if it is
/// not cut.
pub(crate) fn is_of(stack: &[StackFrame], callers: &[u64]) -> bool {
    let Some(start) = stack.iter().position(|frame| Some(&frame.address) == callers.first()) else {
        return false;
    };
    let ours = &stack[start..];
    let same = ours.iter().zip(callers).all(|(frame, caller)| frame.address == *caller);
    let flags = stack[stack.len() - 1].flags & (frame::CUT | frame::TRUNCATED);
    start > 0 && same && (flags == frame::CUT || flags == 0 && ours.len() == callers.len())
}
