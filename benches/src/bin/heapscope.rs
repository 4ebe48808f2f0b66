//! The workloads on the C library's heap under heapscope, a profiler that is a crate.

use std::cell::RefCell;

use slabscope_benches::workloads;
use slabscope_benches::workloads::recording::{self, Recorded, Recorder};

#[global_allocator]
static GLOBAL: heapscope::Alloc = heapscope::Alloc::system();

thread_local! {
    static PROFILER: RefCell<Option<heapscope::Profiler>> = const { RefCell::new(None) };
}

fn main() -> std::process::ExitCode {
    recording::by(Recorder { begin, end });
    workloads::main()
}

fn begin() {
    match heapscope::Profiler::new() {
        Ok(profiler) => PROFILER.set(Some(profiler)),
        Err(error) => {
            eprintln!("heapscope does not begin: {error}");
            std::process::exit(1);
        }
    }
}

fn end() -> Recorded {
    // It writes its file.
    drop(PROFILER.take());
    Recorded::default()
}
