//! An instrumented global allocator: fast while it only allocates, and able to show every
//! allocation it ever made.
//!
//! ```
//! #[global_allocator]
//! static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();
//!
//! fn main() {
//!     let words: Vec<String> = "one line is enough".split(' ').map(String::from).collect();
//!     assert_eq!(words.len(), 4);
//! }
//! ```
//!
//! Run such a program with `SLABSCOPE=traceallocfree=1` and it writes `<program>.<pid>.trace`, a Go
//! execution trace with the events of Go's AllocFree experiment; `slabscope report` explains it,
//! `go tool trace` opens it too. A program started with the variable, `traceallocfree=0` too, follows
//! it as it changes (`std::env::set_var`). Without the variable there is no thread and no file, and
//! an operation looks at nothing that it would not look at anyway. `slabscope::trace` begins and ends traces
//! from inside the program. Without the feature `recorder`, which is on by default, there is the heap alone.
//!
//! # What it does
//! Every operation marks its thread busy, and then follows a pointer to the thread's cache. While the world is
//! stopped (`safepoint`) or a trace is made the pointer leads nowhere, and the operation looks at one global
//! mode: so tracing begins and ends between operations, exactly. Where the mode says that a trace is being
//! made, an operation and its event stand side by side in `traced`.
//!
//! # Platforms
//! Linux with glibc on x86-64 is what is tested. Other CPUs record by compare-and-swap.

#[cfg(feature = "recorder")]
mod caller;
mod door;
#[cfg(feature = "recorder")]
mod env;
mod exit;
mod fork;
mod global_alloc;
#[cfg(feature = "recorder")]
mod own_page;
mod protocol;
mod reentrant;
mod resize;
mod safepoint;
#[cfg(feature = "recorder")]
mod session;
#[cfg(not(feature = "recorder"))]
#[path = "unrecorded.rs"]
mod session;
#[cfg(feature = "recorder")]
mod snapshot;
pub mod stack;
mod stats;
mod sync;
pub mod thread;
mod tls;
#[cfg(feature = "recorder")]
pub mod trace;
mod traced;
mod typed;
#[cfg(feature = "recorder")]
mod watch;

use slabscope_heap::Heap;

pub use global_alloc::Slabscope;
pub use stats::{ClassUsage, Stats, stats};
#[cfg(feature = "recorder")]
pub use stats::{Extent, LiveFile, RecorderMemory};
pub use typed::{type_name, typed};

/// The one heap of the program.
pub(crate) static HEAP: Heap = Heap::new();
