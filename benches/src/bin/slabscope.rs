//! The workloads on this project's heap.

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

fn main() -> std::process::ExitCode {
    slabscope_benches::workloads::main()
}
