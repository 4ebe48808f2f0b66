//! Batches: the frames a trace is made of.
//!
//! A normal batch is `1 gen m time len payload`, an experimental one `49 exp gen m time len
//! payload`, the end of a generation the byte 52 alone. All but `exp` and the ids are varints.

use crate::buffer::Buffer;
use crate::varint;

/// The largest payload, in bytes; one more and Go's reader gives up on the file.
pub const PAYLOAD_MAX: usize = 65_536;

/// The largest batch header, in bytes.
pub const HEADER_MAX: usize = 2 + 4 * varint::LEN_MAX;

/// The thread of batches that belong to no thread.
pub const NO_THREAD: u64 = u64::MAX;

/// Whose payload a batch carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchKind {
    /// Go's own: events of a thread, strings, stacks, samples or the clock.
    Normal,
    /// Side data of the experiment with this number.
    Experimental(u8),
}

/// What stands before a batch's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchHeader {
    /// Whose payload it is.
    pub kind: BatchKind,
    /// Generation, from 1.
    pub generation: u64,
    /// Thread id, or [`NO_THREAD`].
    pub thread: u64,
    /// Time of the batch, in clock ticks; its first event counts from here.
    pub time: u64,
}

impl BatchHeader {
    /// Appends the header of a batch with a payload of `payload_len` bytes.
    pub fn write(&self, out: &mut Buffer<'_>, payload_len: usize) -> bool {
        out.record(|out| {
            let begun = match self.kind {
                BatchKind::Normal => out.byte(crate::event::id::EVENT_BATCH),
                BatchKind::Experimental(experiment) => {
                    out.byte(crate::event::id::EXPERIMENTAL_BATCH) && out.byte(experiment)
                }
            };
            begun
                && out.varint(self.generation)
                && out.varint(self.thread)
                && out.varint(self.time)
                && out.varint(payload_len as u64)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_laid_out_as_go_reads_them() {
        let mut bytes = [0; HEADER_MAX];
        let mut out = Buffer::new(&mut bytes);
        let header =
            BatchHeader { kind: BatchKind::Experimental(1), generation: 3, thread: 300, time: 5 };
        assert!(header.write(&mut out, 7));
        assert_eq!(out.written(), [49, 1, 3, 0xac, 2, 5, 7]);
    }
}
