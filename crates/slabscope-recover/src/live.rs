//! A live file, checked.

use slabscope_wire::alloc_free::KINDS;
use slabscope_wire::batch::PAYLOAD_MAX;
use slabscope_wire::live::{
    HEAD_DROPPED, HEAD_SIZE, MAGIC, VERSION, checkpoint, frame, header, link, name, thread,
};

use crate::error::Error;

/// More rings than there can be CPUs.
const RINGS_MAX: u64 = 1 << 16;

/// Longer rings than anybody makes.
const RING_WORDS_MAX: u64 = 1 << 30;

/// A live file whose header makes sense.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Live<'a> {
    bytes: &'a [u8],
    /// Where the checkpoint that counts begins.
    checkpoint: usize,
}

/// How many bytes of a live file are needed, given its first ones; the rest is room for threads that
/// never were. `None` when the bytes are not the beginning of one.
pub fn needed_len(start: &[u8]) -> Option<u64> {
    let live = Live::unchecked(start);
    if live.header(header::MAGIC).ok()? != MAGIC {
        return None;
    }
    let threads = live.header(header::THREADS).ok()?;
    let size = live.header(header::THREAD_SIZE).ok()?;
    live.header(header::THREADS_AT).ok()?.checked_add(threads.checked_mul(size)?)
}

/// The process that made a live file, given its first bytes.
pub fn process(start: &[u8]) -> Option<u64> {
    let live = Live::unchecked(start);
    (live.header(header::MAGIC).ok()? == MAGIC).then_some(live.header(header::PID).ok()?)
}

impl<'a> Live<'a> {
    /// A live file, or the beginning of one, of which nothing is known.
    pub(crate) fn unchecked(bytes: &'a [u8]) -> Self {
        Live { bytes, checkpoint: 0 }
    }

    /// Checks the header; what it names is inside the file afterwards.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut live = Live::unchecked(bytes);
        if live.header(header::MAGIC) != Ok(MAGIC) {
            return Err(Error::NotLive);
        }
        match live.header(header::VERSION)? {
            VERSION => {}
            other => return Err(Error::Version(other)),
        }
        let rings = live.header(header::RINGS)?;
        let words = live.header(header::RING_WORDS)?;
        let thread_size = live.header(header::THREAD_SIZE)?;
        let checkpoint_size = live.header(header::CHECKPOINT_SIZE)?;
        let current = live.header(header::CHECKPOINT)?;
        let checkpoint_len = rings
            .saturating_mul(checkpoint::RING_LEN as u64)
            .saturating_add(checkpoint::RINGS as u64)
            .saturating_mul(8);
        let checks = [
            (header::RINGS, rings > 0 && rings <= RINGS_MAX),
            (header::RING_WORDS, words.is_power_of_two() && words <= RING_WORDS_MAX),
            (header::THREAD_SIZE, thread_size >= (thread::GENERATION as u64 + 1) * 8),
            (header::CHECKPOINT_SIZE, checkpoint_size >= checkpoint_len),
            (header::CHECKPOINT, current < 2),
            (header::CHUNK_MAX, live.header(header::CHUNK_MAX)? >= PAYLOAD_MAX as u64),
        ];
        if let Some(&(word, _)) = checks.iter().find(|&&(_, holds)| !holds) {
            return Err(Error::Header(word));
        }
        live.part(header::CHECKPOINTS_AT, 2, checkpoint_size)?;
        live.part(header::HEADS_AT, rings, HEAD_SIZE as u64)?;
        live.part(header::WORDS_AT, rings * words, 8)?;
        live.part(header::SITES_AT, live.header(header::SITES)?, 8)?;
        live.part(header::MODULES_AT, live.header(header::MODULES_LEN)?, 1)?;
        live.part(header::STACK_SITES_AT, live.header(header::STACK_SITES)?, link::LEN as u64)?;
        live.part(header::FRAMES_AT, live.header(header::FRAMES)?, frame::LEN as u64)?;
        let regions = if live.header(header::FRAMES)? > 0 { frame::REGIONS as u64 } else { 0 };
        live.part(header::REGIONS_AT, regions, 4)?;
        let names = live.header(header::TYPE_NAMES)?.checked_add(1);
        let names = names.ok_or(Error::Header(header::TYPE_NAMES))?;
        live.part(header::TYPE_NAMES_AT, names, name::UNIT as u64)?;
        live.part(header::CHUNK_AT, live.header(header::CHUNK_MAX)?, 1)?;
        live.part(header::THREADS_AT, live.header(header::THREADS)?, thread_size)?;
        let at = live.header(header::CHECKPOINTS_AT)? + current * checkpoint_size;
        live.checkpoint = at as usize;
        Ok(live)
    }

    /// Where a part of `count` times `size` bytes begins, if it is inside the file.
    fn part(&self, word: usize, count: u64, size: u64) -> Result<usize, Error> {
        let start = self.header(word)?;
        let len = count.checked_mul(size).ok_or(Error::Header(word))?;
        let end = start.checked_add(len).ok_or(Error::Header(word))?;
        if !start.is_multiple_of(8) {
            return Err(Error::Header(word));
        }
        if end > self.bytes.len() as u64 {
            return Err(Error::TooShort { needed: end });
        }
        Ok(start as usize)
    }

    /// A word that begins at this byte.
    pub(crate) fn word(&self, at: usize) -> Option<u64> {
        let bytes = self.bytes.get(at..at.checked_add(8)?)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    }

    /// A word of the header.
    pub(crate) fn header(&self, index: usize) -> Result<u64, Error> {
        self.word(index * 8).ok_or(Error::TooShort { needed: (header::LEN * 8) as u64 })
    }

    /// Events that were dropped, by kind.
    pub(crate) fn dropped_by_kind(&self) -> [u64; KINDS.len()] {
        core::array::from_fn(|kind| self.header(header::DROPPED + kind).unwrap_or_default())
    }

    /// Events that were dropped, by ring.
    pub(crate) fn dropped_by_ring(&self) -> impl Iterator<Item = u64> {
        let heads = self.header(header::HEADS_AT).unwrap_or_default() as usize;
        let rings = self.header(header::RINGS).unwrap_or_default() as usize;
        (0..rings)
            .map(move |ring| self.word(heads + ring * HEAD_SIZE + HEAD_DROPPED).unwrap_or_default())
    }

    /// A word of the checkpoint that counts.
    pub(crate) fn checkpoint(&self, index: usize) -> u64 {
        self.word(self.checkpoint + index * 8).unwrap_or_default()
    }

    /// A word at an index from where a part of the file begins.
    pub(crate) fn word_of(&self, part: usize, index: u64) -> u64 {
        let start = self.header(part).unwrap_or_default();
        let at = usize::try_from(start.saturating_add(index.saturating_mul(8)));
        at.ok().and_then(|at| self.word(at)).unwrap_or_default()
    }

    /// The site with a stack that has this number among them, from 1: its request and innermost frame.
    pub(crate) fn stack_site(&self, number: u64) -> Option<(u64, u32)> {
        let index = number.checked_sub(1)?;
        if index >= self.header(header::STACK_SITES).ok()? {
            return None;
        }
        let at = |word| self.short_word(header::STACK_SITES_AT, index * link::WORDS as u64 + word);
        Some(link::unpack([at(0)?, at(1)?, at(2)?]))
    }

    /// The frame with this number, from 1: its address, flags and parent.
    pub(crate) fn frame(&self, number: u64) -> Option<(u64, u64, u32)> {
        let index = number.checked_sub(1)?;
        if index >= self.header(header::FRAMES).ok()? {
            return None;
        }
        let word = self.word_of(header::FRAMES_AT, index);
        frame::unpack(word, self.short_word(header::REGIONS_AT, frame::region(word) as u64)?)
    }

    /// A word of 32 bits at an index from where a part of the file begins.
    fn short_word(&self, part: usize, index: u64) -> Option<u32> {
        let start = self.header(part).ok()?;
        let at = usize::try_from(start.checked_add(index.checked_mul(4)?)?).ok()?;
        let bytes = self.bytes.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    /// The name of a declared type, by its number; `None` for 0 and numbers never given out.
    pub(crate) fn type_name(&self, number: u16) -> Option<&'a [u8]> {
        if number == 0 || u64::from(number) > self.header(header::TYPE_NAMES).ok()? {
            return None;
        }
        let unit = usize::from(number) * name::UNIT;
        let at =
            usize::try_from(self.header(header::TYPE_NAMES_AT).ok()?).ok()?.checked_add(unit)?;
        let len = usize::try_from(self.word(at)?).ok().filter(|len| *len <= name::LEN_MAX)?;
        let start = at.checked_add(size_of::<u64>())?;
        self.bytes.get(start..start.checked_add(len)?).filter(|name| !name.is_empty())
    }

    /// The records of modules.
    pub(crate) fn modules(&self) -> &'a [u8] {
        let place = |word| usize::try_from(self.header(word).ok()?).ok();
        let bytes = || {
            let start = place(header::MODULES_AT)?;
            self.bytes.get(start..start.checked_add(place(header::MODULES_LEN)?)?)
        };
        bytes().unwrap_or_default()
    }

    /// The first `len` bytes of the chunk; `None` if it is not that long.
    pub(crate) fn chunk(&self, len: u64) -> Option<&'a [u8]> {
        if len > self.header(header::CHUNK_MAX).ok()? {
            return None;
        }
        let start = usize::try_from(self.header(header::CHUNK_AT).ok()?).ok()?;
        self.bytes.get(start..start.checked_add(usize::try_from(len).ok()?)?)
    }

    /// A word of the thread with this number of ours, those never entered being like number 0.
    pub(crate) fn thread(&self, number: u64, word: usize) -> u64 {
        let known = number < self.header(header::THREADS).unwrap_or_default();
        let number = if known { number } else { 0 };
        let size = self.header(header::THREAD_SIZE).unwrap_or_default();
        self.word_of(header::THREADS_AT, number * (size / 8) + word as u64)
    }
}
