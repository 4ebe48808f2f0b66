//! An instrumented global allocator.
