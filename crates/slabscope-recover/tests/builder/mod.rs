//! A live file and its trace, built by hand from the layout's constants: two rings of 64 words.
#![allow(dead_code, reason = "each test program uses a part of it")]

use slabscope_wire::alloc_free::{EventKind, kindclass_noscan};
use slabscope_wire::live::{
    EPOCH_BITS, HEAD_DROPPED, HEAD_SIZE, MAGIC, VERSION, checkpoint, frame, header, link, name,
    site, state, thread, word,
};
use slabscope_wire::size_class::SizeClass;

pub(crate) const RING_WORDS: u64 = 64;
const RINGS: u64 = 2;
const THREAD_SIZE: usize = 64;
const CHUNK_MAX: usize = 1 << 17;

const CHECKPOINTS_AT: usize = 4096;
const CHECKPOINT_SIZE: usize = 512;
const HEADS_AT: usize = 8192;
const WORDS_AT: usize = 12_288;
const SITES_AT: usize = 16_384;
const CHUNK_AT: usize = 20_480;
const THREADS_AT: usize = CHUNK_AT + CHUNK_MAX;
const LEN: usize = THREADS_AT + 4 * THREAD_SIZE;

/// A live file being built.
pub(crate) struct LiveFile {
    pub(crate) bytes: Vec<u8>,
    by_cas: bool,
    pushed: [u64; 2],
}

impl LiveFile {
    /// Of a trace whose recorder never wrote; clock: 2 ticks a nanosecond, 1000 ticks at 5000 ns.
    pub(crate) fn new(by_cas: bool) -> Self {
        let mut file = LiveFile { bytes: vec![0; LEN], by_cas, pushed: [0; 2] };
        for (word, value) in [
            (header::MAGIC, MAGIC),
            (header::VERSION, VERSION),
            (header::STATE, state::LIVE),
            (header::PID, 99),
            (header::HEAP_BASE, 1 << 40),
            (header::PROTOCOL, u64::from(by_cas)),
            (header::RINGS, RINGS),
            (header::RING_WORDS, RING_WORDS),
            (header::HEADS_AT, HEADS_AT as u64),
            (header::WORDS_AT, WORDS_AT as u64),
            (header::THREADS_AT, THREADS_AT as u64),
            (header::THREAD_SIZE, THREAD_SIZE as u64),
            (header::THREADS, 3),
            (header::SITES_AT, SITES_AT as u64),
            (header::SITES, 8),
            (header::CHUNK_AT, CHUNK_AT as u64),
            (header::CHUNK_MAX, CHUNK_MAX as u64),
            (header::CHECKPOINTS_AT, CHECKPOINTS_AT as u64),
            (header::CHECKPOINT_SIZE, CHECKPOINT_SIZE as u64),
            (header::WALL, 1_700_000_000_000_000_000),
        ] {
            file.set(word * 8, value);
        }
        for (index, value) in [0, 4500, 1000, 5000].into_iter().enumerate() {
            file.set(CHECKPOINTS_AT + (checkpoint::CLOCK + index) * 8, value);
        }
        for (number, name) in ["", "first", "second"].into_iter().enumerate() {
            let at = THREADS_AT + number * THREAD_SIZE;
            file.set(at + thread::ID * 8, 100 + number as u64);
            file.set(at + thread::START * 8, 4600);
            let name_at = at + thread::NAME * 8;
            file.bytes[name_at..name_at + name.len()].copy_from_slice(name.as_bytes());
        }
        file.set(SITES_AT, site::pack(24, 8, 0));
        file
    }

    /// One span, two objects of which one is freed, by two threads, in both rings.
    pub(crate) fn with_events(by_cas: bool) -> Self {
        let mut file = LiveFile::new(by_cas);
        let class = SizeClass::of_size(24).expect("a class");
        let span = word::argument(word::span_argument(1, kindclass_noscan(class)));
        file.push(0, 1, 1100, &[word::event(EventKind::SpanAlloc, 3, 0), span]);
        file.push(0, 1, 1200, &[word::event(EventKind::ObjectAlloc, 3 * 1024, 1)]);
        file.push(1, 2, 1300, &[word::event(EventKind::ObjectAlloc, 3 * 1024 + 3, 1)]);
        file.push(1, 1, 1400, &[word::event(EventKind::ObjectFree, 3 * 1024 + 3, 0)]);
        file
    }

    pub(crate) fn set(&mut self, at: usize, value: u64) {
        self.bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }

    /// How many events a ring dropped.
    pub(crate) fn set_head_dropped(&mut self, ring: usize, events: u64) {
        self.set(HEADS_AT + ring * HEAD_SIZE + HEAD_DROPPED, events);
    }

    /// Records of modules, behind all the rest.
    pub(crate) fn set_modules(&mut self, records: &[&[u8]]) {
        let at = self.bytes.len().next_multiple_of(8);
        self.bytes.resize(at, 0);
        self.bytes.extend(records.concat());
        self.set_header(header::MODULES_AT, at as u64);
        self.set_header(header::MODULES_LEN, (self.bytes.len() - at) as u64);
    }

    pub(crate) fn set_header(&mut self, word: usize, value: u64) {
        self.set(word * 8, value);
    }

    pub(crate) fn set_checkpoint(&mut self, word: usize, value: u64) {
        self.set(CHECKPOINTS_AT + word * 8, value);
    }

    /// Three frames, of which the first is in the other two, and the stack of site 9.
    pub(crate) fn set_stacks(&mut self) {
        // Behind the table of sites, in its page.
        let (frames_at, sites_at) = (SITES_AT + 1024, SITES_AT + 2048);
        for (word, value) in [
            (header::FRAMES_AT, frames_at as u64),
            (header::FRAMES, 3),
            (header::REGIONS_AT, WORDS_AT as u64 + 2048),
            (header::STACK_SITES_AT, sites_at as u64),
            (header::STACK_SITES, 1),
        ] {
            self.set_header(word, value);
        }
        self.set(WORDS_AT + 2048, u64::from(frame::region_of(100)) << 32);
        for (index, (address, parent)) in [(100, 0), (200, 1), (300, 1)].into_iter().enumerate() {
            self.set(frames_at + index * frame::LEN, frame::pack(1, address, 0, parent));
        }
        for (index, word) in link::pack(site::pack(40, 8, 0), 2).into_iter().enumerate() {
            self.bytes[sites_at + index * 4..][..4].copy_from_slice(&word.to_le_bytes());
        }
        self.push(1, 2, 1500, &[word::event(EventKind::ObjectAlloc, 3 * 1024 + 6, 9)]);
    }

    /// Tables with anything in them, behind all the rest: frames, regions from 1 on, and sites from 9 on, of
    /// each of which an object is allocated.
    pub(crate) fn set_tables(&mut self, frames: &[u64], regions: &[u32], sites: &[[u32; 3]]) {
        let regions_len = frame::REGIONS * 4;
        let regions = regions.iter().flat_map(|region| region.to_le_bytes());
        let mut regions: Vec<u8> = [0; 4].into_iter().chain(regions).collect();
        regions.resize(regions_len, 0);
        let frames_bytes: Vec<u8> = frames.iter().flat_map(|frame| frame.to_le_bytes()).collect();
        let sites_bytes = sites.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        for (word, part) in [
            (header::REGIONS_AT, regions),
            (header::FRAMES_AT, frames_bytes),
            (header::STACK_SITES_AT, sites_bytes),
        ] {
            let at = self.bytes.len().next_multiple_of(8);
            self.bytes.resize(at, 0);
            self.bytes.extend(part);
            self.set_header(word, at as u64);
        }
        self.set_header(header::FRAMES, frames.len() as u64);
        self.set_header(header::STACK_SITES, sites.len() as u64);
        for index in 0..sites.len() as u32 {
            let id = 3 * 1024 + 6 + 3 * u64::from(index);
            self.push(1, 2, 1500, &[word::event(EventKind::ObjectAlloc, id, 9 + index)]);
        }
    }

    /// Two names, and an object of the second one's type at site 2.
    pub(crate) fn set_type_names(&mut self, names: [&[u8]; 2]) {
        // Behind the tables of `set_stacks`, in their page.
        let at = SITES_AT + 3072;
        self.set_header(header::TYPE_NAMES_AT, at as u64);
        let mut unit = 1;
        for (site, bytes) in (1..).zip(names) {
            self.set(at + unit * name::UNIT, bytes.len() as u64);
            let start = at + unit * name::UNIT + 8;
            self.bytes[start..start + bytes.len()].copy_from_slice(bytes);
            self.set(SITES_AT + site * 8, site::pack(48, 8, unit as u16));
            unit += name::units(bytes.len());
        }
        self.set_header(header::TYPE_NAMES, unit as u64 - 1);
        self.push(1, 2, 1600, &[word::event(EventKind::ObjectAlloc, 3 * 1024 + 9, 3)]);
    }

    /// Where the name with this number begins.
    pub(crate) fn type_name_at(&self, number: usize) -> usize {
        SITES_AT + 3072 + number * name::UNIT
    }

    pub(crate) fn set_chunk(&mut self, chunk: &[u8]) {
        self.bytes[CHUNK_AT..CHUNK_AT + chunk.len()].copy_from_slice(chunk);
        self.set_checkpoint(checkpoint::CHUNK_LEN, chunk.len() as u64);
    }

    /// Pushes a record, with its thread.
    pub(crate) fn push(&mut self, ring: usize, thread: u32, ticks: u64, event: &[u64]) {
        for &value in [word::run(thread), word::time(ticks)].iter().chain(event) {
            self.push_word(ring, value);
        }
    }

    /// Takes places in a ring that are never filled.
    pub(crate) fn push_hole(&mut self, ring: usize, len: usize) {
        for _ in 0..len {
            self.push_word(ring, 0);
        }
    }

    pub(crate) fn set_ring_word(&mut self, ring: usize, at: u64, value: u64) {
        self.set(WORDS_AT + (ring as u64 * RING_WORDS + at) as usize * 8, value);
    }

    pub(crate) fn set_head(&mut self, ring: usize, head: u64) {
        self.set(HEADS_AT + ring * HEAD_SIZE, head);
    }

    fn push_word(&mut self, ring: usize, value: u64) {
        let index = ring as u64 * RING_WORDS + self.pushed[ring] % RING_WORDS;
        self.set(WORDS_AT + index as usize * 8, value);
        self.pushed[ring] += 1;
        let by_cas = self.by_cas || ring == 1;
        let pushed = self.pushed[ring];
        let head = if by_cas { pushed << EPOCH_BITS | 1 } else { 1 << 32 | pushed };
        self.set(HEADS_AT + ring * HEAD_SIZE, head);
    }
}
