//! The workloads on this project's heap, recorded if asked for.

use slabscope_benches::workloads;
#[cfg(feature = "recorder")]
use slabscope_benches::workloads::recording::{self, Recorded, Recorder};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

fn main() -> std::process::ExitCode {
    #[cfg(feature = "recorder")]
    recording::by(Recorder { begin, end });
    workloads::main()
}

/// `SLABSCOPE` says how and where.
#[cfg(feature = "recorder")]
fn begin() {
    if let Err(error) = slabscope::trace::start() {
        eprintln!("no trace: {error}");
        std::process::exit(1);
    }
}

#[cfg(feature = "recorder")]
fn end() -> Recorded {
    let Some(summary) = slabscope::trace::stop() else { return Recorded::default() };
    Recorded { events: summary.events, lost: summary.lost, bytes: summary.bytes, end_nanos: 0 }
}
