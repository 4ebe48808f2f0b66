//! The workloads on the C library's heap, which a Rust program has that says nothing.

#[global_allocator]
static GLOBAL: std::alloc::System = std::alloc::System;

fn main() -> std::process::ExitCode {
    slabscope_benches::workloads::main()
}
