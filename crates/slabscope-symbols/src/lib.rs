//! From addresses of a traced program to functions, lines, and the Rust types that own the memory.
//!
//! [`Symbolizer`] takes the modules a trace names, finds debug information for each by its build id,
//! and turns addresses into [`Frame`]s, those of inlined functions included.
//! [`types::of_stack`] tells from the frames of an allocation what it was for.
//!
//! No input makes it panic: what cannot be read becomes a frame with fewer facts in it, and
//! [`Symbolizer::findings`] says why.
#![forbid(unsafe_code)]

mod cache;
mod debug_file;
mod dwarf;
mod file;
mod frame;
mod generics;
mod image;
mod module;
mod module_names;
mod name;
mod source_path;
mod symbol_table;
mod symbolizer;
pub mod types;

pub use frame::Frame;
pub use module::{BuildId, Module};
pub use name::{Name, crate_of, module_of};
pub use symbolizer::{Finding, Options, Source, Symbolizer};
