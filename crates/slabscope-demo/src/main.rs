//! A real multi-threaded program on the slabscope allocator.
fn main() {}
