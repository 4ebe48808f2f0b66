//! The AllocFree experiment: how addresses, classes and stack sizes become event arguments, and
//! the side data that travels with the events.

mod kind;

use crate::size_class::SizeClass;

pub use kind::{EventKind, KINDS};

/// The number of the experiment in experimental batches.
pub const EXPERIMENT: u8 = 1;

/// Page size every consumer assumes, in bytes.
pub const PAGE_SIZE: u64 = 8192;

/// Unit of object ids, in bytes.
pub const OBJECT_ALIGN: u64 = 8;

/// Unit of stack ids, in bytes.
pub const STACK_ALIGN: u64 = 2048;

/// `kindclass` of a span that holds no heap objects.
pub const KINDCLASS_NOT_OBJECTS: u64 = 1;

/// `kindclass` of a span of pointer-free objects of `class`, as all memory of Rust is to Go.
pub const fn kindclass_noscan(class: SizeClass) -> u64 {
    ((class.index() as u64) << 1 | 1) << 1
}

/// The size class in a `kindclass`, or `None` for a span that holds no objects or a class beyond
/// the table.
pub const fn class_of_kindclass(kindclass: u64) -> Option<SizeClass> {
    if kindclass & 1 == 1 || kindclass >> 2 > u8::MAX as u64 {
        return None;
    }
    SizeClass::new((kindclass >> 2) as u8)
}

/// The `order` of a stack of `size` bytes: the bit length, one more than its logarithm.
pub const fn stack_order(size: u64) -> u64 {
    64 - size.leading_zeros() as u64
}

/// The size of a stack of `order`, in bytes; 0 for an order no stack can have.
pub const fn stack_size(order: u64) -> u64 {
    if order == 0 || order > 64 { 0 } else { 1 << (order - 1) }
}

/// What an experimental batch holds, told by its first byte.
///
/// Go defines the first two. Ours start at 64, so that both can grow; Go's reader passes them
/// through untouched. All numbers are varints, all texts a varint length and the bytes.
pub mod data {
    /// Types, to the end of the payload: `id, address, size, pointer bytes, name` each.
    pub const TYPES: u8 = 0;
    /// `min heap address, page size, min heap alignment, min stack alignment`; once, first
    /// generation (we repeat it in each, so that any suffix of a trace stands alone).
    pub const INFO: u8 = 1;
    /// How the trace was made, to the end of the payload: `key text, value text` each.
    pub const BUILD: u8 = 64;
    /// Size classes, to the end of the payload: `slot size, pages of a span` each, from class 1.
    pub const SIZE_CLASSES: u8 = 66;
    /// Sites, to the end of the payload: `id, size, alignment, innermost frame` each; the frame is
    /// the number of one of [`FRAMES`], 0 where no stack was taken.
    pub const SITES: u8 = 67;
    /// Threads, to the end of the payload: `thread id, start ns, end ns (0: running), name` each.
    pub const THREADS: u8 = 68;
    /// Closing counts, once, last generation: `end reason` (see [`super::EndReason`]), then for
    /// each of the nine events `id, happened, lost`, then for each CPU to the end of the payload
    /// `cpu, records`.
    pub const CLOSING: u8 = 69;
    /// Events that found no room and were dropped, to the end of the payload: `cpu, events` each,
    /// those with none left out; last generation, if there are any.
    pub const DROPPED: u8 = 70;
    /// Frames of call stacks, to the end of the payload: `id, parent id (0: none), flags, address`
    /// each; the flags are those of [`super::frame`]. A parent stands before its children, and each
    /// generation has the frames its sites need.
    pub const FRAMES: u8 = 71;
    /// Modules the program is made of, to the end of the payload: `id, first address, end address,
    /// bias, loaded ns (0: before the trace), unloaded ns (0: still there), build id (a text, maybe
    /// empty), path` each. A link-time address and the bias make an address, modulo 2^64.
    pub const MODULES: u8 = 72;
    /// Names of types that the program declared, to the end of the payload: `id, name` each. Each
    /// generation has those that its sites need.
    pub const TYPE_NAMES: u8 = 73;
    /// Types of sites, to the end of the payload: `site id, certainty (1 guess, 2 likely, 3 exact,
    /// 4 declared), type` each. Not by the recorder: by a tool that gave the trace its names.
    pub const SITE_TYPES: u8 = 74;
    /// Sites whose type was declared, to the end of the payload: `site id, type name id` each. By the
    /// recorder, in the same generation as the site; a name stands before the sites that have it.
    pub const TYPED_SITES: u8 = 75;
}

/// The flags of a frame.
pub mod frame {
    /// The step from this frame to its parent went by unwind tables; else by the frame pointer.
    pub const BY_TABLE: u64 = 1;
    /// The stack goes on, and was cut here since it had as many frames as were asked for.
    pub const CUT: u64 = 2;
    /// Unwinding stopped here, though this is not where the thread began.
    pub const TRUNCATED: u64 = 4;
    /// The address is of the instruction that was interrupted by a signal, not of one after a call.
    pub const EXACT: u64 = 8;
}

/// Why a trace of ours ended, as its closing counts say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EndReason {
    /// The program stopped tracing.
    Stopped = 0,
    /// The program exited.
    Exited = 1,
    /// Writing failed; the events after it are counted as lost.
    WriteFailed = 2,
    /// The program was killed, and the trace finished from what it left behind.
    Killed = 3,
}

impl EndReason {
    /// The reason with this number.
    pub const fn new(number: u64) -> Option<Self> {
        match number {
            0 => Some(EndReason::Stopped),
            1 => Some(EndReason::Exited),
            2 => Some(EndReason::WriteFailed),
            3 => Some(EndReason::Killed),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kindclass_and_order_are_as_go_reads_them() {
        let class = SizeClass::new(5).unwrap();
        assert_eq!(kindclass_noscan(class), 5 << 2 | 2);
        assert_eq!(class_of_kindclass(kindclass_noscan(class)), Some(class));
        assert_eq!(class_of_kindclass(KINDCLASS_NOT_OBJECTS), None);
        assert_eq!(class_of_kindclass(68 << 2), None);
        assert_eq!(stack_order(2048), 12);
        assert_eq!(stack_size(12), 2048);
    }
}
