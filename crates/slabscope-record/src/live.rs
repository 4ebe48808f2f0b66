//! The recorder's memory, in a file beside the trace if that can be had: then a trace whose program
//! is killed can be finished from it. The layout is `slabscope_wire::live`.
//!
//! Where no file can be had (the trace goes to a pipe or a device, the disk has no room, the file
//! system cannot map) the memory is the process's own, and everything else is the same.

mod backing;
mod layout;

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, compiler_fence};

use slabscope_os::file::{Errno, File};
use slabscope_os::rseq::RingHead;
use slabscope_os::{clock, process};
use slabscope_wire::buffer::Buffer;
use slabscope_wire::live::{self, checkpoint, frame, header, name, state};

use crate::clock::Anchor;
use crate::counts::KINDS;
use crate::mapped::{Mapped, Region};
use crate::memory::{Extent, LiveFile};
use crate::output::{CHUNK, Tally};
use crate::ring::CAPACITY;
use crate::site::SLOTS;
use crate::thread_table::{THREADS, ThreadEntry};

use backing::Backing;
use layout::Layout;
pub(crate) use layout::Part;

/// The memory of one trace.
#[derive(Debug)]
pub(crate) struct Live {
    region: Region,
    layout: Layout,
    header: Mapped<AtomicU64>,
    checkpoints: [Mapped<AtomicU64>; 2],
    file: Option<Backing>,
    /// Why there is no file, if there is none.
    refusal: Option<Errno>,
}

/// What a checkpoint says of one ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RingPlace {
    pub(crate) taken: u64,
    pub(crate) thread: u32,
    pub(crate) records: u64,
}

/// What a checkpoint says of the rest.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    pub(crate) written: u64,
    pub(crate) chunk_len: u64,
    pub(crate) generation: u64,
    pub(crate) generation_start: u64,
    pub(crate) clock: [Anchor; 2],
    pub(crate) events: Tally,
}

impl Live {
    /// Memory for so many rings, and for call stacks, beside the file `trace`; `None` when there is
    /// none.
    pub(crate) fn new(trace: File, rings: usize, has_stacks: bool) -> Option<Self> {
        let layout = Layout::new(rings, has_stacks);
        let (file, region, refusal) = match Backing::new(trace, &layout) {
            Ok((file, region)) => (Some(file), region, None),
            Err(why) => (None, Region::of_memory(layout.len)?, Some(why)),
        };
        let words = layout.checkpoint_size / size_of::<u64>();
        let second = layout.checkpoints + layout.checkpoint_size;
        // SAFETY: the region lives in the same value and is dropped with it; it is zeroed; words of
        // these parts are atomic.
        let (header, first, second) = unsafe {
            (
                region.slice(0, header::LEN)?,
                region.slice(layout.checkpoints, words)?,
                region.slice(second, words)?,
            )
        };
        let live = Live { region, layout, header, checkpoints: [first, second], file, refusal };
        let bytes = |n: usize| n as u64;
        for (index, value) in [
            (header::MAGIC, live::MAGIC),
            (header::VERSION, live::VERSION),
            (header::PID, process::id()),
            (header::RINGS, bytes(rings)),
            (header::RING_WORDS, CAPACITY),
            (header::HEADS_AT, bytes(layout.heads)),
            (header::WORDS_AT, bytes(layout.words)),
            (header::THREADS_AT, bytes(layout.threads)),
            (header::THREAD_SIZE, bytes(size_of::<ThreadEntry>())),
            (header::SITES_AT, bytes(layout.sites)),
            (header::SITES, bytes(SLOTS)),
            (header::TYPE_NAMES_AT, bytes(layout.type_names)),
            (header::STACK_SITES_AT, bytes(layout.stack_sites)),
            (header::REGIONS_AT, bytes(layout.regions)),
            (header::FRAMES_AT, bytes(layout.frames)),
            (header::MODULES_AT, bytes(layout.modules)),
            (header::CHUNK_AT, bytes(layout.chunk)),
            (header::CHUNK_MAX, bytes(CHUNK)),
            (header::CHECKPOINTS_AT, bytes(layout.checkpoints)),
            (header::CHECKPOINT_SIZE, bytes(layout.checkpoint_size)),
        ] {
            live.set(index, value);
        }
        let wall = clock::wall();
        live.set(header::WALL, wall.seconds * 1_000_000_000 + u64::from(wall.nanos));
        Some(live)
    }

    /// Sets a word of the header.
    pub(crate) fn set(&self, index: usize, value: u64) {
        if let Some(word) = self.header.get(index) {
            publish(word, value);
        }
    }

    /// The header's word for the bytes in the trace file.
    pub(crate) fn written(&self) -> Option<Mapped<AtomicU64>> {
        // SAFETY: as in `thread_count`.
        unsafe { self.region.slice(header::WRITTEN * size_of::<u64>(), 1) }
    }

    /// The header's word for the number of threads.
    pub(crate) fn thread_count(&self) -> Option<Mapped<AtomicU64>> {
        // SAFETY: the session keeps both, and drops this first; the word is atomic.
        unsafe { self.region.slice(header::THREADS * size_of::<u64>(), 1) }
    }

    /// The header's words for events that were dropped, by kind.
    pub(crate) fn dropped(&self) -> Option<Mapped<AtomicU64>> {
        // SAFETY: as in `thread_count`.
        unsafe { self.region.slice(header::DROPPED * size_of::<u64>(), KINDS.len()) }
    }

    pub(crate) fn heads(&self) -> Option<Mapped<RingHead>> {
        let rings = self.header.get(header::RINGS)?.load(Ordering::Relaxed) as usize;
        // SAFETY: as above; heads are atomic, and zero is a head.
        unsafe { self.region.slice(self.layout.heads, rings) }
    }

    pub(crate) fn words(&self) -> Option<Mapped<AtomicU64>> {
        let rings = self.header.get(header::RINGS)?.load(Ordering::Relaxed) as usize;
        // SAFETY: as above.
        unsafe { self.region.slice(self.layout.words, rings * CAPACITY as usize) }
    }

    pub(crate) fn sites(&self) -> Option<Mapped<AtomicU64>> {
        // SAFETY: as above.
        unsafe { self.region.slice(self.layout.sites, SLOTS) }
    }

    pub(crate) fn threads(&self) -> Option<Mapped<ThreadEntry>> {
        // SAFETY: as above; entries are atomic, and zero is an entry.
        unsafe { self.region.slice(self.layout.threads, THREADS) }
    }

    /// The bytes on their way into the trace file; for the one caller that writes them.
    pub(crate) fn chunk(&self) -> Option<Mapped<u8>> {
        // SAFETY: as above; the drainer alone calls this, once.
        unsafe { self.region.slice(self.layout.chunk, CHUNK) }
    }

    /// Has room made for the first `len` bytes of a part. `false` when there is none: they must not be
    /// touched then.
    pub(crate) fn back(&self, part: Part, len: usize) -> bool {
        self.file.as_ref().is_none_or(|file| file.back(&self.layout, part, len))
    }

    /// Memory for sites with call stacks, with the word that counts them; `None` where no stacks are taken.
    pub(crate) fn stack_sites(&self) -> Option<(Mapped<AtomicU32>, Mapped<AtomicU64>)> {
        let (start, len) = self.place(Part::StackSites)?;
        // SAFETY: as in `thread_count`.
        unsafe {
            let words = self.region.slice(start, len / size_of::<u32>())?;
            Some((words, self.region.slice(header::STACK_SITES * size_of::<u64>(), 1)?))
        }
    }

    /// The same for frames, with the table of regions before the count.
    pub(crate) fn frames(
        &self,
    ) -> Option<(Mapped<AtomicU64>, Mapped<AtomicU32>, Mapped<AtomicU64>)> {
        let (start, len) = self.place(Part::Frames)?;
        // SAFETY: as in `thread_count`.
        unsafe {
            let words = self.region.slice(start, len / size_of::<u64>())?;
            let regions = self.region.slice(self.layout.regions, frame::REGIONS)?;
            Some((words, regions, self.region.slice(header::FRAMES * size_of::<u64>(), 1)?))
        }
    }

    /// Where a part begins, and how long it is; `None` if it is empty.
    fn place(&self, part: Part) -> Option<(usize, usize)> {
        let (start, end) = (self.layout.start(part), self.layout.end(part));
        (start != end).then_some((start, end - start))
    }

    /// Memory for names of declared types, with the word that counts their units.
    pub(crate) fn type_names(&self) -> Option<(Mapped<AtomicU64>, Mapped<AtomicU64>)> {
        // SAFETY: as in `thread_count`.
        unsafe {
            let words = self.region.slice(self.layout.type_names, name::UNITS * name::WORDS)?;
            Some((words, self.region.slice(header::TYPE_NAMES * size_of::<u64>(), 1)?))
        }
    }

    /// Appends to the records of modules what `write` writes whole; `false` when there is no room.
    /// For the drainer, or before there is one.
    pub(crate) fn add_module(&self, write: impl FnOnce(&mut Buffer<'_>) -> bool) -> bool {
        let Some(word) = self.header.get(header::MODULES_LEN) else { return false };
        let len = word.load(Ordering::Relaxed) as usize;
        let room = self.layout.modules_len.saturating_sub(len);
        // SAFETY: as in `thread_count`; one thread at a time calls this, and nobody else has these
        // bytes.
        let Some(mut bytes) = (unsafe { self.region.slice::<u8>(self.layout.modules + len, room) })
        else {
            return false;
        };
        let mut buffer = Buffer::new(bytes.as_mut_slice());
        let fits = buffer.record(write);
        if fits {
            publish(word, (len + buffer.len()) as u64);
        }
        fits
    }

    /// Makes a checkpoint. For the drainer, or before there is one.
    pub(crate) fn checkpoint(&self, progress: &Progress, rings: impl Iterator<Item = RingPlace>) {
        let Some(current) = self.header.get(header::CHECKPOINT) else { return };
        let next = 1 - current.load(Ordering::Relaxed).min(1);
        let Some(words) = self.checkpoints.get(next as usize) else { return };
        let [older, newer] = progress.clock;
        let fixed = [
            progress.written,
            progress.chunk_len,
            progress.generation,
            progress.generation_start,
            older.ticks,
            older.nanos,
            newer.ticks,
            newer.nanos,
        ];
        let rings = rings.flat_map(|ring| [ring.taken, u64::from(ring.thread), ring.records]);
        let values = fixed.into_iter().chain(progress.events).chain(rings);
        for (word, value) in words.iter().zip(values) {
            word.store(value, Ordering::Relaxed);
        }
        self.set(header::CHECKPOINT, next);
    }

    /// Whether the trace survives the process's sudden end; if not, why.
    pub(crate) fn refusal(&self) -> Option<Errno> {
        self.refusal
    }

    /// Bytes in the trace file.
    pub(crate) fn bytes_written(&self) -> u64 {
        self.header.get(header::WRITTEN).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Events in the trace, or on their way, as of the last checkpoint.
    pub(crate) fn events_in_trace(&self) -> u64 {
        let current = self.header.get(header::CHECKPOINT).map(|word| word.load(Ordering::Acquire));
        let words = current.and_then(|current| self.checkpoints.get(current as usize));
        let events = words.and_then(|words| words.get(checkpoint::EVENTS..checkpoint::RINGS));
        events.unwrap_or_default().iter().map(|word| word.load(Ordering::Relaxed)).sum()
    }

    /// Memory of rings, of tables, and of the bytes on their way into the trace file.
    pub(crate) fn extents(&self) -> [Extent; 3] {
        let layout = &self.layout;
        let rings_end = layout.words + self.words().map_or(0, |words| size_of_val(&*words));
        let rings = self.region.extent(layout.heads..rings_end);
        let chunk = self.region.extent(layout.chunk..layout.chunk + CHUNK);
        let all = self.region.extent(0..layout.len);
        [rings, all.without(rings).without(chunk), chunk]
    }

    /// The file, if there is one.
    pub(crate) fn file_sizes(&self) -> Option<LiveFile> {
        let (apparent, allocated) = self.file.as_ref()?.sizes()?;
        Some(LiveFile { apparent, allocated })
    }

    /// From now on there is nothing to recover.
    pub(crate) fn end(&self) {
        self.set(header::STATE, state::ENDED);
    }

    /// Removes the file.
    pub(crate) fn remove(&self) {
        if let Some(file) = &self.file {
            file.remove();
        }
    }

    /// In a forked child: leaves the file to the parent.
    pub(crate) fn forget(&self) {
        if let Some(file) = &self.file {
            file.close();
        }
    }
}

/// Stores `value`: a process that is killed has done everything before this or nothing after it. The
/// memory is the file's, and the processor keeps the order of stores, so only the compiler has to
/// be told.
pub(crate) fn publish(word: &AtomicU64, value: u64) {
    word.store(value, Ordering::Release);
    compiler_fence(Ordering::SeqCst);
}
