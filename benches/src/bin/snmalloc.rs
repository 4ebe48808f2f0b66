//! The workloads on snmalloc.

#[global_allocator]
static GLOBAL: snmalloc_rs::SnMalloc = snmalloc_rs::SnMalloc;

fn main() -> std::process::ExitCode {
    slabscope_benches::workloads::main()
}
