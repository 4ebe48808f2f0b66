//! One level of a call stack, as people see it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// One level of a call stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Frame {
    /// The function.
    pub function: Arc<str>,
    /// The source file.
    pub file: Arc<str>,
    /// The line in that file.
    pub line: u64,
}

/// What stands in the paths of sources that came with the compiler or were downloaded.
const FOREIGN: [&str; 5] =
    ["/rustc/", "/rust/deps/", "/lib/rustlib/", "/registry/src/", "/git/checkouts/"];

impl Frame {
    /// Whether its source is the program's own, and not of the standard library or a downloaded
    /// crate. Where the file is not known, it is not.
    pub fn is_own(&self) -> bool {
        !self.file.is_empty() && !FOREIGN.iter().any(|part| self.file.contains(part))
    }

    /// Whether its function is one of the standard library.
    fn is_std(&self) -> bool {
        let function = self.function.trim_start_matches('<');
        ["alloc::", "core::", "std::", "hashbrown::"].iter().any(|path| function.starts_with(path))
    }

    /// The frame of a stack that tells people most: the innermost of the program's own, or else of any
    /// crate but the standard library.
    pub fn telling(stack: &[Arc<Frame>]) -> Option<&Arc<Frame>> {
        let own = stack.iter().find(|frame| frame.is_own() && !frame.function.is_empty());
        own.or_else(|| Frame::outside_of_std(stack))
    }

    /// The innermost frame of a stack that is not in the standard library, or else the innermost.
    pub(crate) fn outside_of_std(stack: &[Arc<Frame>]) -> Option<&Arc<Frame>> {
        let mut named = stack.iter().filter(|frame| !frame.function.is_empty());
        named.clone().find(|frame| !frame.is_std()).or_else(|| named.next())
    }

    /// Whether it is a part of allocating itself: the way from `alloc` to the heap.
    fn is_allocator(&self) -> bool {
        let function = self.function.trim_start_matches('<');
        let is_in = |places: &[&str]| places.iter().any(|place| function.starts_with(place));
        is_in(&ALLOCATOR) && !is_in(&AROUND_PROGRAM)
            || function.contains("__rust_alloc")
            || function.contains("__rust_realloc")
    }
}

/// Where the way from a program to the heap leads along.
const ALLOCATOR: [&str; 5] =
    ["slabscope::", "slabscope_heap::", "slabscope_record::", "slabscope_os::", "alloc::alloc::"];

/// Functions there that call the program.
const AROUND_PROGRAM: [&str; 3] =
    ["slabscope::typed::", "slabscope::thread::", "slabscope::stack::"];

/// How deep that way is at most, in frames; behind it, such functions belong to the program.
const ALLOCATOR_DEPTH: usize = 24;

/// The frames of a stack, innermost first, without those of allocating itself.
pub(crate) fn without_allocator(frames: &[Arc<Frame>]) -> &[Arc<Frame>] {
    let near = &frames[..frames.len().min(ALLOCATOR_DEPTH)];
    let last = near.iter().rposition(|frame| frame.is_allocator());
    // Nothing but the allocator is left of some stacks: its own threads'.
    last.and_then(|last| frames.get(last + 1..)).filter(|rest| !rest.is_empty()).unwrap_or(frames)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_sources_lie_outside_of_what_was_downloaded() {
        let frame = |file: &str| Frame { file: file.into(), ..Frame::default() };
        assert!(frame("/home/me/app/src/main.rs").is_own());
        assert!(frame("crates/app/src/main.rs").is_own());
        let registry = "/root/.cargo/registry/src/index.crates.io-1949/syn-3.0.1/src/lib.rs";
        for file in ["", "/rustc/5980/library/alloc/src/alloc.rs", registry] {
            assert!(!frame(file).is_own(), "{file}");
        }
    }

    #[test]
    fn the_way_to_the_heap_is_no_part_of_the_program() {
        let frame = |function: &str| Frame { function: function.into(), ..Frame::default() };
        assert!(frame("<slabscope::Slabscope as core::alloc::GlobalAlloc>::alloc").is_allocator());
        assert!(frame("__rustc::__rust_alloc").is_allocator());
        assert!(frame("alloc::alloc::alloc").is_allocator());
        assert!(!frame("alloc::vec::push").is_allocator());
        assert!(!frame("slabscope_demo::items::find").is_allocator());
        assert!(!frame("std::sys::backtrace::__rust_begin_short_backtrace").is_allocator());
        let names =
            ["std::thread::local::with", "slabscope::tls::with", "alloc::vec::push", "main"];
        let frames = names.map(|name| Arc::new(frame(name)));
        assert_eq!(without_allocator(&frames), &frames[2..]);
        assert_eq!(without_allocator(&frames[..2]), &frames[..2]);
        let names = ["slabscope::tls::with", "app::run", "slabscope::typed::typed", "app::main"];
        let frames = names.map(|name| Arc::new(frame(name)));
        assert_eq!(without_allocator(&frames), &frames[1..]);
    }
}
