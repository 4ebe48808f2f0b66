//! Whole batches into a file, in large chunks; and what to do when the file takes no more.
//!
//! Every chunk begins and ends between batches, and some begin where a round of the drainer ended: what
//! is before them is whole, the events of all threads up to one moment. When writing fails, the file is
//! cut back to the start of such a chunk, and the closing counts end it.
//!
//! The file may be compressed, each chunk a frame of its own. All others count in bytes of the trace;
//! where a chunk stands in the file is known here alone.

#[cfg(feature = "zstd")]
mod frames;
#[cfg(not(feature = "zstd"))]
#[path = "output/no_frames.rs"]
mod frames;

use core::sync::atomic::AtomicU64;
use core::time::Duration;

use slabscope_os::file::{Errno, File};
use slabscope_wire::batch::{BatchHeader, HEADER_MAX, PAYLOAD_MAX};
use slabscope_wire::buffer::Buffer;

use self::frames::Frames;
use crate::live;
use crate::mapped::Mapped;
use crate::policy::Policy;

/// Bytes written at once.
pub(crate) const CHUNK: usize = 1 << 20;

/// At the end of a round a chunk with this many bytes is written: so little is lost to a cut.
const ENOUGH: usize = CHUNK / 2;

/// Events by kind.
pub(crate) type Tally = [u64; 9];

/// Whether traces can be compressed.
pub const CAN_COMPRESS: bool = cfg!(feature = "zstd");

/// A place between two chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    /// Bytes of the trace before it.
    trace: u64,
    /// Bytes of the file before it; the same unless it is compressed.
    file: u64,
}

/// A place before which the trace is whole: the events of all threads up to one moment.
#[derive(Clone, Copy, Debug, Default)]
struct Whole {
    place: Place,
    /// Events before it.
    events: Tally,
}

/// The file and the chunk being filled.
#[derive(Debug)]
pub(crate) struct Output {
    file: File,
    chunk: Mapped<u8>,
    /// What compresses it, if anything does.
    frames: Option<Frames>,
    /// One word.
    written: Mapped<AtomicU64>,
    /// How long to wait for a file that takes nothing.
    stall: Duration,
    len: usize,
    /// Events in the chunk being filled.
    events: Tally,
    /// What is in the file.
    in_file: Place,
    /// Where the end was written, after a failure.
    end_at: Option<Place>,
    /// Events in the file.
    events_in_file: Tally,
    /// The last such place in the file, and the one before it.
    whole: [Whole; 2],
    failure: Option<Errno>,
}

impl Output {
    /// Into `file`, by way of `chunk`, [`CHUNK`] bytes; `written` tells how many of the trace are in
    /// the file. `None` when there is no memory to compress in.
    pub(crate) fn new(
        file: File,
        chunk: Mapped<u8>,
        written: Mapped<AtomicU64>,
        policy: &Policy,
    ) -> Option<Self> {
        let frames = if policy.compress { Some(Frames::new()?) } else { None };
        Some(Output {
            file,
            chunk,
            frames,
            written,
            stall: policy.stall,
            len: 0,
            events: Tally::default(),
            in_file: Place::default(),
            end_at: None,
            events_in_file: Tally::default(),
            whole: [Whole::default(); 2],
            failure: None,
        })
    }

    /// Bytes of the trace in the file, and bytes that wait in the chunk.
    pub(crate) fn parts(&self) -> (u64, u64) {
        (self.in_file.trace, self.len as u64)
    }

    /// Length of the file.
    pub(crate) fn file_len(&self) -> u64 {
        self.in_file.file
    }

    /// Bytes of the trace so far, those not yet written included.
    pub(crate) fn position(&self) -> u64 {
        self.in_file.trace + self.len as u64
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

    /// All that was appended so far is whole. It is written when it is `due`, or enough.
    pub(crate) fn end_round(&mut self, due: bool) {
        if due || self.len >= ENOUGH {
            self.flush();
        }
        let [last, _] = self.whole;
        if self.len == 0 && self.failure.is_none() && self.in_file != last.place {
            self.whole = [Whole { place: self.in_file, events: self.events_in_file }, last];
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
        match write(self.file, self.frames.as_mut(), chunk, self.stall) {
            Ok(len) => {
                self.in_file.trace += self.len as u64;
                self.in_file.file += len;
                // Before the chunk is written over.
                if let Some(written) = self.written.first() {
                    live::publish(written, self.in_file.trace);
                }
                add(&mut self.events_in_file, &events);
            }
            Err(error) => {
                self.failure = Some(error);
                self.file.cut(start.file);
            }
        }
        self.len = 0;
    }

    /// Takes nothing more, for this reason, if it has not failed already.
    pub(crate) fn fail(&mut self, why: Errno) {
        self.failure.get_or_insert(why);
    }

    /// After a failure: cuts the file back to where it is whole. A second call cuts what was whole
    /// last as well, to make room for an end. A pipe cannot be cut, and keeps what it has.
    pub(crate) fn cut(&mut self) {
        let [last, before] = self.whole;
        (self.len, self.events) = (0, Tally::default());
        if self.file.cut(last.place.file) {
            (self.in_file, self.events_in_file) = (last.place, last.events);
            self.whole = [before; 2];
        }
    }

    /// After a failure: writes `end` behind the first `at` bytes of the trace, which are what is in
    /// the file but for an end that was written there before. `false` when that fails too, and the
    /// file has those bytes only.
    pub(crate) fn write_end(&mut self, at: u64, end: &[u8]) -> bool {
        let place = self.end_at.filter(|place| place.trace == at).unwrap_or(self.in_file);
        (self.in_file, self.end_at) = (place, Some(place));
        if self.file.cut(place.file)
            && let Ok(len) = write(self.file, self.frames.as_mut(), end, self.stall)
        {
            self.in_file = Place { trace: at + end.len() as u64, file: place.file + len };
            return true;
        }
        self.file.cut(place.file);
        false
    }
}

fn add(sum: &mut Tally, events: &Tally) {
    for (sum, n) in sum.iter_mut().zip(events) {
        *sum += n;
    }
}

/// Writes `bytes` as they are or as a frame; how long that is in the file.
fn write(
    file: File,
    frames: Option<&mut Frames>,
    bytes: &[u8],
    stall: Duration,
) -> Result<u64, Errno> {
    let bytes = match frames {
        // A chunk fits by its length, so no error is to be expected.
        Some(frames) => frames.of(bytes).ok_or(Errno(0))?,
        None => bytes,
    };
    write_all(file, bytes, stall).map(|()| bytes.len() as u64)
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
