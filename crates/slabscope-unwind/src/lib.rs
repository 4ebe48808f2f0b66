//! Call stacks: return addresses of the calling thread, found without a lock, an allocation or a
//! fault.
//!
//! Before it is needed, the unwind tables of each module the program is made of are compiled into a
//! form that one step can be read from (`rule`), in the manner of the Linux kernel's ORC tables.
//! `walk` then goes from frame to frame: it looks the address up in a small cache of rules (`rules`),
//! and only for an address that is new in the module's table. Where the rule says that the function
//! keeps a frame pointer, the step is two loads. `memo` keeps the steps of a thread's last walks, which
//! need only be compared then.
//!
//! `scan` finds the modules, and which were loaded or unloaded since: from the kernel's list of
//! mappings, and from memory that it has the kernel copy, so neither the dynamic linker's lock is
//! needed nor does a module that goes away meanwhile do harm.
#![no_std]

mod compile;
mod expression;
mod image;
mod memo;
mod memory;
mod module;
mod reach;
mod rule;
mod rules;
mod scan;
mod stack;
mod table;
mod unwinder;
mod walk;

pub use memo::Memo;
pub use module::Module;
pub use reach::Place;
pub use stack::{CallStack, DEPTH_MAX, Depth, Frame};
pub use unwinder::Unwinder;
