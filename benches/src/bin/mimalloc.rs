//! The workloads on mimalloc, version 3 or, with the feature `mimalloc-v2`, 2.

#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    slabscope_benches::workloads::main()
}
