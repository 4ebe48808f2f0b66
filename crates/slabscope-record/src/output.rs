//! Whole batches into a file, in large chunks; and what to do when the file takes no more.
//!
//! Every chunk begins and ends between batches. So when writing fails, cutting the file back to
//! the start of a chunk leaves a readable trace, which the closing counts then end.

use core::sync::atomic::AtomicU64;
use core::time::Duration;

use slabscope_os::file::{Errno, File};
use slabscope_wire::batch::{BatchHeader, HEADER_MAX, PAYLOAD_MAX};
use slabscope_wire::buffer::Buffer;

use crate::live;
use crate::mapped::Mapped;

/// Bytes written at once.
pub(crate) const CHUNK: usize = 1 << 20;

/// Events by kind.
pub(crate) type Tally = [u64; 9];

/// A chunk that is in the file, or was tried.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    /// Where it starts in the file.
    start: u64,
    /// Events in it.
    events: Tally,
}

/// The file and the chunk being filled.
#[derive(Debug)]
pub(crate) struct Output {
    file: File,
    chunk: Mapped<u8>,
    /// One word.
    written: Mapped<AtomicU64>,
    /// How long to wait for a file that takes nothing.
    stall: Duration,
    len: usize,
    /// Events in the chunk being filled.
    events: Tally,
    /// Bytes in the file.
    in_file: u64,
    /// Events in the file.
    events_in_file: Tally,
    /// The last chunk in the file, unless it was cut already.
    last: Option<Written>,
    failure: Option<Errno>,
}

impl Output {
    /// Into `file`, by way of `chunk`, [`CHUNK`] bytes; `written` tells how many are in the file.
    pub(crate) fn new(
        file: File,
        chunk: Mapped<u8>,
        written: Mapped<AtomicU64>,
        stall: Duration,
    ) -> Self {
        Output {
            file,
            chunk,
            written,
            stall,
            len: 0,
            events: Tally::default(),
            in_file: 0,
            events_in_file: Tally::default(),
            last: None,
            failure: None,
        }
    }

    /// Bytes in the file, and bytes that wait in the chunk.
    pub(crate) fn parts(&self) -> (u64, u64) {
        (self.in_file, self.len as u64)
    }

    /// Bytes of the trace so far, those not yet written included.
    pub(crate) fn position(&self) -> u64 {
        self.in_file + self.len as u64
    }

    /// Why writing failed, once it has.
    pub(crate) fn failure(&self) -> Option<Errno> {
        self.failure
    }

    /// Events in the file, or on their way into it.
    pub(crate) fn events(&self) -> Tally {
        let mut events = self.events_in_file;
        add(&mut events, &self.events);
        events
    }

    /// Appends a batch with `events` events in it. After a failure it is dropped.
    pub(crate) fn batch(&mut self, header: &BatchHeader, payload: &[u8], events: &Tally) {
        if CHUNK - self.len < HEADER_MAX + PAYLOAD_MAX {
            self.flush();
        }
        if self.failure.is_some() {
            return;
        }
        let room = self.chunk.as_mut_slice().get_mut(self.len..).unwrap_or_default();
        let mut out = Buffer::new(room);
        // A chunk has room for any batch, by the check above.
        if header.write(&mut out, payload.len()) && out.bytes(payload) {
            self.len += out.len();
            add(&mut self.events, events);
        }
    }

    /// Appends bytes that stand outside batches: the file header, the end of a generation.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        if CHUNK - self.len < bytes.len() {
            self.flush();
        }
        if let Some(room) = self.chunk.as_mut_slice().get_mut(self.len..self.len + bytes.len()) {
            room.copy_from_slice(bytes);
            self.len += bytes.len();
        }
    }

    /// Writes the chunk. If that fails, the file is cut back to the chunk's start, and nothing more
    /// is taken.
    pub(crate) fn flush(&mut self) {
        if self.failure.is_some() || self.len == 0 {
            return;
        }
        let start = self.in_file;
        let chunk = self.chunk.get(..self.len).unwrap_or_default();
        let events = core::mem::take(&mut self.events);
        match write_all(self.file, chunk, self.stall) {
            Ok(()) => {
                self.in_file += self.len as u64;
                // Before the chunk is written over.
                if let Some(written) = self.written.first() {
                    live::publish(written, self.in_file);
                }
                add(&mut self.events_in_file, &events);
                self.last = Some(Written { start, events });
            }
            Err(error) => {
                self.failure = Some(error);
                self.file.cut(start);
            }
        }
        self.len = 0;
    }

    /// Takes nothing more, for this reason, if it has not failed already.
    pub(crate) fn fail(&mut self, why: Errno) {
        self.failure.get_or_insert(why);
    }

    /// After a failure: cuts the last chunk that was written as well, to make room for an end.
    pub(crate) fn cut_last(&mut self) {
        if let Some(last) = self.last.take().filter(|last| self.file.cut(last.start)) {
            self.in_file = last.start;
            for (sum, n) in self.events_in_file.iter_mut().zip(last.events) {
                *sum -= n;
            }
        }
    }

    /// After a failure: writes `end` behind the first `at` bytes of the file; `false` when that
    /// fails too, and the file has those bytes only.
    pub(crate) fn write_end(&mut self, at: u64, end: &[u8]) -> bool {
        let written = self.file.cut(at) && write_all(self.file, end, self.stall).is_ok();
        self.in_file = at;
        if written {
            self.in_file += end.len() as u64;
        } else {
            self.file.cut(at);
        }
        written
    }
}

fn add(sum: &mut Tally, events: &Tally) {
    for (sum, n) in sum.iter_mut().zip(events) {
        *sum += n;
    }
}

fn write_all(file: File, mut bytes: &[u8], stall: Duration) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match file.write(bytes) {
            // A kernel that takes nothing and gives no reason would have us try for ever.
            Ok(0) => return Err(Errno(0)),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(Errno::WOULD_BLOCK) if file.wait_writable(stall) => {}
            Err(Errno::WOULD_BLOCK) => return Err(Errno::TIMED_OUT),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
