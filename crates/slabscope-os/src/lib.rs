//! The kernel, libc and the CPU, as the slabscope allocator needs them.
//!
//! The only crate that names libc or assembly. It allocates nothing on any heap, panics nowhere
//! and leaves `errno` as it was.
#![no_std]

pub mod advise;
pub mod barrier;
pub mod clock;
pub mod cpu;
pub mod env;
pub mod errno;
mod fatal;
pub mod file;
pub mod fork;
pub mod futex;
pub mod lock;
pub mod map;
pub mod maps;
pub mod own_memory;
pub mod process;
pub mod registers;
pub mod rseq;
pub mod say;
pub mod signal;
pub mod thread;
mod thread_stack;
#[cfg(feature = "zstd")]
pub mod zstd;

pub use fatal::fatal;

/// Size of a kernel page, in bytes. x86-64 Linux has no other.
pub const KERNEL_PAGE: usize = 4096;
