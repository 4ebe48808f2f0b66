//! The workloads on rusty_alloc.

#[global_allocator]
static GLOBAL: rusty_alloc_api::RustyAlloc = rusty_alloc_api::RustyAlloc;

fn main() -> std::process::ExitCode {
    slabscope_benches::workloads::main()
}
