//! The workloads on the C library's heap under dhat, a profiler that is a crate.

use std::sync::Mutex;

use slabscope_benches::workloads;
use slabscope_benches::workloads::recording::{self, Recorded, Recorder};

#[global_allocator]
static GLOBAL: dhat::Alloc = dhat::Alloc;

static PROFILER: Mutex<Option<dhat::Profiler>> = Mutex::new(None);

fn main() -> std::process::ExitCode {
    recording::by(Recorder { begin, end });
    workloads::main()
}

fn begin() {
    let profiler = dhat::Profiler::new_heap();
    if let Ok(mut place) = PROFILER.lock() {
        *place = Some(profiler);
    }
}

fn end() -> Recorded {
    let profiler = PROFILER.lock().ok().and_then(|mut place| place.take());
    // It writes its file.
    drop(profiler);
    Recorded::default()
}
