//! The live file: what a running trace keeps beside its trace file, so that a killed program's trace
//! can be finished.
//!
//! It is the recorder's memory, mapped from a file: rings, tables, the bytes that are not in the
//! trace file yet, and how far the drainer has come. All words are 64 bits, little-endian, in the
//! places that the header names. A clean end removes the file.
//!
//! The drainer's progress is a *checkpoint*: so many bytes of the trace, and in each ring so many
//! words, belong together. Two places hold one each, and the header says which counts; the drainer
//! fills the other and then switches. So at every moment the trace up to the checkpoint and the
//! words after it are the whole story.

pub mod frame;
pub mod name;
pub mod word;

/// The first word of the file.
pub const MAGIC: u64 = u64::from_le_bytes(*b"slablive");

/// The version of the layout. A reader of one version refuses the others.
pub const VERSION: u64 = 7;

/// What stands after the trace file's name in that of its live file.
pub const SUFFIX: &str = ".live";

/// The low bits of a ring's head, under compare-and-swap: the drainer's epoch. A head that comes again
/// would let an event have an old reading of the clock; with so many bits that takes hours in which nobody
/// pushes, and then one certain round of the drainer among millions.
pub const EPOCH_BITS: u32 = 24;

/// How many words of a ring with this head come after the first `taken` ever pushed. Under restartable
/// sequences the head is `[thread that pushed last : 32 | words pushed : 32]`, under compare-and-swap
/// `[words pushed : 40 | epoch : 24]`; both counts wrap around.
#[inline]
pub const fn available(head: u64, taken: u64, by_cas: bool) -> u64 {
    if by_cas {
        (head >> EPOCH_BITS << EPOCH_BITS).wrapping_sub(taken << EPOCH_BITS) >> EPOCH_BITS
    } else {
        (head as u32).wrapping_sub(taken as u32) as u64
    }
}

/// Distance of two ring heads, in bytes. The head is the first word of each.
pub const HEAD_SIZE: usize = 256;

/// Where in a ring's head, in bytes, the number of events stands that were dropped there.
pub const HEAD_DROPPED: usize = 144;

/// The words of the header, by index.
pub mod header {
    /// [`MAGIC`](super::MAGIC).
    pub const MAGIC: usize = 0;
    /// [`VERSION`](super::VERSION).
    pub const VERSION: usize = 1;
    /// One of [`state`](super::state).
    pub const STATE: usize = 2;
    /// The process.
    pub const PID: usize = 3;
    /// Lowest address of the heap, as in the trace.
    pub const HEAP_BASE: usize = 4;
    /// 0 for restartable sequences, 1 for compare-and-swap; the last ring is always of the latter.
    pub const PROTOCOL: usize = 5;
    /// 1 when ticks are nanoseconds.
    pub const TICKS_ARE_NANOS: usize = 6;
    /// How many rings there are.
    pub const RINGS: usize = 7;
    /// Words of each ring, a power of two.
    pub const RING_WORDS: usize = 8;
    /// Where the ring heads begin, in bytes from the start of the file.
    pub const HEADS_AT: usize = 9;
    /// Where the rings' words begin.
    pub const WORDS_AT: usize = 10;
    /// Where the table of threads begins; see [`thread`](super::thread).
    pub const THREADS_AT: usize = 11;
    /// Distance of two threads in it, in bytes.
    pub const THREAD_SIZE: usize = 12;
    /// How many threads were entered, number 0 included.
    pub const THREADS: usize = 13;
    /// Where the table of sites begins: a word each, as [`site`](super::site) packs it; site 1 first.
    pub const SITES_AT: usize = 14;
    /// How many sites it has room for.
    pub const SITES: usize = 15;
    /// Where the bytes begin that are on their way into the trace file.
    pub const CHUNK_AT: usize = 16;
    /// How many there can be.
    pub const CHUNK_MAX: usize = 17;
    /// How many bytes of the trace file were written. Until a checkpoint's bytes are, they are the
    /// first ones of the chunk.
    pub const WRITTEN: usize = 18;
    /// Where the two checkpoints begin; see [`checkpoint`](super::checkpoint).
    pub const CHECKPOINTS_AT: usize = 19;
    /// Distance of the two, in bytes.
    pub const CHECKPOINT_SIZE: usize = 20;
    /// Which of them counts: 0 or 1.
    pub const CHECKPOINT: usize = 21;
    /// The wall clock when the trace began, in nanoseconds since 1970.
    pub const WALL: usize = 22;
    /// Where the table of sites with call stacks begins: a [`link`](super::link) each. The first has
    /// the number after [`SITES`].
    pub const STACK_SITES_AT: usize = 23;
    /// How many of them were entered.
    pub const STACK_SITES: usize = 24;
    /// Where the table of frames begins: a [`frame`](super::frame) each; frame 1 first.
    pub const FRAMES_AT: usize = 25;
    /// How many of them were entered.
    pub const FRAMES: usize = 26;
    /// Where the records of modules begin, as they stand in the trace; of one module the last holds.
    pub const MODULES_AT: usize = 27;
    /// How many bytes they have.
    pub const MODULES_LEN: usize = 28;
    /// Where the names of declared types begin; see [`name`](super::name).
    pub const TYPE_NAMES_AT: usize = 29;
    /// How many units of them were given out, beside unit 0.
    pub const TYPE_NAMES: usize = 30;
    /// Where the table of the regions of frames begins, if there are any.
    pub const REGIONS_AT: usize = 31;
    /// From here on a word for each of the nine kinds of events: how many were dropped.
    pub const DROPPED: usize = 32;
    /// How many words the header has.
    pub const LEN: usize = DROPPED + 9;
}

/// What a live file is of.
pub mod state {
    /// The trace has not begun.
    pub const NEW: u64 = 0;
    /// The trace is being made.
    pub const LIVE: u64 = 1;
    /// The trace has ended, or failed: there is nothing to recover.
    pub const ENDED: u64 = 2;
}

/// The words of a checkpoint, by index.
pub mod checkpoint {
    /// Bytes of the trace file that were written when it was made.
    pub const WRITTEN: usize = 0;
    /// Bytes of the chunk that come after them.
    pub const CHUNK_LEN: usize = 1;
    /// The generation that these bytes end in.
    pub const GENERATION: usize = 2;
    /// The time that generation began, in nanoseconds.
    pub const GENERATION_START: usize = 3;
    /// Two moments on both clocks, the older one first: ticks, nanoseconds, ticks, nanoseconds.
    pub const CLOCK: usize = 4;
    /// Events in these bytes, of each of the nine kinds.
    pub const EVENTS: usize = 8;
    /// For each ring three words: words taken, thread of the last record taken, records taken.
    pub const RINGS: usize = 17;
    /// How many words each ring has here.
    pub const RING_LEN: usize = 3;
}

/// The words of a thread, by index.
pub mod thread {
    /// Kernel thread id.
    pub const ID: usize = 0;
    /// When it began, in nanoseconds.
    pub const START: usize = 1;
    /// When it ended, in nanoseconds; 0 while it runs.
    pub const END: usize = 2;
    /// Its name, two words of bytes, padded with NULs.
    pub const NAME: usize = 3;
    /// The last generation that has an event of it.
    pub const GENERATION: usize = 5;
}

/// A site as one word: `[log2 of the alignment, plus 1 : 8 | declared type : 16 | size : 40]`, 0 for none.
/// The type is the number of a [`name`], 0 where none was declared.
pub mod site {
    const SIZE_BITS: u32 = 40;
    const ALIGN_SHIFT: u32 = 56;

    /// The largest size that can be told: more than the heap has addresses for.
    pub const SIZE_MAX: u64 = (1 << SIZE_BITS) - 1;

    /// The word of a site; a size above [`SIZE_MAX`] becomes that.
    #[inline]
    pub const fn pack(size: u64, align: u64, type_name: u16) -> u64 {
        let size = if size < SIZE_MAX { size } else { SIZE_MAX };
        (align.trailing_zeros() as u64 + 1) << ALIGN_SHIFT | (type_name as u64) << SIZE_BITS | size
    }

    /// Size and alignment, in bytes, and the declared type; `None` for a word that is no site's.
    pub const fn unpack(word: u64) -> Option<(u64, u64, u16)> {
        match word >> ALIGN_SHIFT {
            log @ 1..=64 => Some((word & SIZE_MAX, 1 << (log - 1), (word >> SIZE_BITS) as u16)),
            _ => None,
        }
    }
}

/// What a site with a call stack is kept as: three words of 32 bits, the word of its request (its low half
/// first, as [`site`] packs it) and the number of its innermost frame. All zero while it is being written,
/// or if it never was.
pub mod link {
    /// Words of one.
    pub const WORDS: usize = 3;

    /// Bytes of one.
    pub const LEN: usize = WORDS * 4;

    /// The words of a request and a frame.
    #[inline]
    pub const fn pack(request: u64, frame: u32) -> [u32; WORDS] {
        [request as u32, (request >> 32) as u32, frame]
    }

    /// Request and frame of these words.
    #[inline]
    pub const fn unpack(words: [u32; WORDS]) -> (u64, u32) {
        (words[0] as u64 | (words[1] as u64) << 32, words[2])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_survive_a_round_trip() {
        let request = site::pack(0x7f_1234_5678, 64, 3);
        assert_eq!(link::unpack(link::pack(request, u32::MAX)), (request, u32::MAX));
    }

    #[test]
    fn words_are_counted_across_the_end_of_what_a_head_can_say() {
        assert_eq!(available(5 << 32 | 10, 7, false), 3);
        assert_eq!(available(5 << 32 | 1, (1 << 40) - 1, false), 2);
        assert_eq!(available(10 << EPOCH_BITS | 77, 7, true), 3);
        assert_eq!(available(1 << EPOCH_BITS, (1 << 40) - 1, true), 2);
    }

    #[test]
    fn sites_survive_a_round_trip() {
        for (size, align) in [(0, 1), (24, 8), (256 << 30, 4096), (site::SIZE_MAX, 1 << 63)] {
            for of in [0, 1, u16::MAX] {
                assert_eq!(site::unpack(site::pack(size, align, of)), Some((size, align, of)));
            }
        }
        assert_eq!(site::pack(u64::MAX, 8, 1), site::pack(site::SIZE_MAX, 8, 1));
        assert_eq!(site::unpack(0), None);
        assert_eq!(site::unpack(u64::MAX), None);
    }
}
