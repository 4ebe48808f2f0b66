//! Batches into a growing vector.

use slabscope_wire::alloc_free::EXPERIMENT;
use slabscope_wire::batch::{BatchHeader, BatchKind, HEADER_MAX, NO_THREAD, PAYLOAD_MAX};
use slabscope_wire::buffer::Buffer;

/// The batches written so far, and the one being filled.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) bytes: Vec<u8>,
    generation: u64,
    payload: Box<[u8]>,
    len: usize,
    /// Rows that no batch has room for.
    pub(crate) left_out: u64,
}

impl Writer {
    /// For batches of `generation`, after `bytes`.
    pub(crate) fn new(bytes: Vec<u8>, generation: u64) -> Self {
        Writer { bytes, generation, payload: vec![0; PAYLOAD_MAX].into(), len: 0, left_out: 0 }
    }

    /// Whether nothing waits in the batch being filled.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends to the batch being filled what `write` writes whole; `false` if it has no room.
    pub(crate) fn append(&mut self, write: impl FnOnce(&mut Buffer<'_>) -> bool) -> bool {
        let room = self.payload.get_mut(self.len..).unwrap_or_default();
        let mut buffer = Buffer::new(room);
        let fits = buffer.record(write);
        if fits {
            self.len += buffer.len();
        }
        fits
    }

    /// Ends the batch as one of events of `thread` that begins at `time`.
    pub(crate) fn close_events(&mut self, thread: u64, time: u64) {
        self.close(BatchKind::Normal, thread, time);
    }

    /// Ends the batch as one that is no thread's.
    pub(crate) fn close_structure(&mut self, time: u64) {
        self.close(BatchKind::Normal, NO_THREAD, time);
    }

    /// Writes side data of `kind`, one record for each of `rows`, in as many batches as it takes.
    pub(crate) fn side_data<T>(
        &mut self,
        kind: u8,
        time: u64,
        rows: impl Iterator<Item = T>,
        write: impl Fn(&mut Buffer<'_>, &T) -> bool,
    ) {
        let experimental = BatchKind::Experimental(EXPERIMENT);
        for row in rows {
            let put = |writer: &mut Self| {
                let begun = !writer.is_empty() || writer.append(|b| b.byte(kind));
                begun && writer.append(|b| write(b, &row))
            };
            if !put(self) {
                self.close(experimental, NO_THREAD, time);
                // No record of ours is longer than a batch, but those of a harmed file may be.
                self.left_out += u64::from(!put(self));
            }
        }
        self.close(experimental, NO_THREAD, time);
    }

    fn close(&mut self, kind: BatchKind, thread: u64, time: u64) {
        if self.len == 0 {
            return;
        }
        let header = BatchHeader { kind, generation: self.generation, thread, time };
        let mut start = [0; HEADER_MAX];
        let mut buffer = Buffer::new(&mut start);
        // The longest header fits.
        header.write(&mut buffer, self.len);
        self.bytes.extend_from_slice(buffer.written());
        self.bytes.extend_from_slice(self.payload.get(..self.len).unwrap_or_default());
        self.len = 0;
    }
}
