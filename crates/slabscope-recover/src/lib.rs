//! Finishing the trace of a killed program from what its recorder left behind.
//!
//! A program that is traced keeps its recorder's memory in a file beside the trace, the live file
//! (`slabscope_wire::live`). If the program ends without ending its trace, that file stays, and
//! [`recover`] makes the trace whole from both: the trace up to the recorder's last checkpoint, and
//! every event that was recorded after it.
//!
//! ```no_run
//! use std::fs;
//!
//! let trace = fs::read("app.1234.trace")?;
//! let live = fs::read("app.1234.trace.live")?;
//! match slabscope_recover::recover(trace.len() as u64, &live) {
//!     Ok(Some(recovered)) => {
//!         let mut whole = trace[..recovered.keep].to_vec();
//!         whole.extend(&recovered.tail);
//!         fs::write("whole.trace", whole)?;
//!     }
//!     Ok(None) => println!("the trace ended well"),
//!     Err(error) => println!("cannot be recovered: {error}"),
//! }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! The live file is what a dying program left, so nothing in it is believed before it is checked.
#![forbid(unsafe_code)]

mod clock;
mod error;
mod finish;
mod live;
mod rings;
mod running;
mod stacks;
mod writer;

pub use error::Error;
pub use finish::{Recovered, recover};
pub use live::{needed_len, process};
pub use running::read_running;
