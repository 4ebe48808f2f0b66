//! Where each part of the live file begins.

use slabscope_os::rseq::RingHead;
use slabscope_wire::live::{checkpoint, frame, header, link, name};

use crate::output::CHUNK;
use crate::ring::CAPACITY;
use crate::site::SLOTS;
use crate::stacks::{FRAMES, STACK_SITES};
use crate::thread_table::{THREADS, ThreadEntry};

/// The kernel maps in units of this.
const PAGE: usize = slabscope_os::KERNEL_PAGE;

/// Room for records of modules, in bytes.
const MODULES_LEN: usize = 1 << 20;

/// Where each part begins, in bytes. Those that grow come last, since most of them has no room on
/// the disk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) checkpoints: usize,
    pub(super) checkpoint_size: usize,
    pub(super) heads: usize,
    pub(super) words: usize,
    pub(super) sites: usize,
    pub(super) chunk: usize,
    pub(super) modules: usize,
    pub(super) modules_len: usize,
    pub(super) regions: usize,
    pub(super) type_names: usize,
    pub(super) stack_sites: usize,
    pub(super) frames: usize,
    pub(super) threads: usize,
    pub(super) len: usize,
}

impl Layout {
    pub(super) fn new(rings: usize, has_stacks: bool) -> Self {
        let words = checkpoint::RINGS + checkpoint::RING_LEN * rings;
        let checkpoint_size = (words * size_of::<u64>()).next_multiple_of(PAGE);
        let if_stacks = |len: usize| if has_stacks { len } else { 0 };
        let modules_len = if_stacks(MODULES_LEN);
        let mut end = 0_usize;
        let mut part = |len: usize| {
            let start = end;
            end += len.next_multiple_of(PAGE);
            start
        };
        part(header::LEN * size_of::<u64>());
        Layout {
            checkpoints: part(2 * checkpoint_size),
            checkpoint_size,
            heads: part(rings * size_of::<RingHead>()),
            words: part(rings * CAPACITY as usize * size_of::<u64>()),
            sites: part(SLOTS * size_of::<u64>()),
            chunk: part(CHUNK),
            modules: part(modules_len),
            modules_len,
            regions: part(if_stacks(frame::REGIONS * size_of::<u32>())),
            type_names: part(name::UNITS * name::UNIT),
            stack_sites: part(if_stacks(STACK_SITES * link::LEN)),
            frames: part(if_stacks(FRAMES * frame::LEN)),
            threads: part(THREADS * size_of::<ThreadEntry>()),
            len: end,
        }
    }

    /// Where the parts that grow begin.
    pub(super) fn fixed_len(&self) -> usize {
        self.type_names
    }

    /// Where a part begins that grows.
    pub(super) fn start(&self, part: Part) -> usize {
        match part {
            Part::TypeNames => self.type_names,
            Part::StackSites => self.stack_sites,
            Part::Frames => self.frames,
            Part::Threads => self.threads,
        }
    }

    /// Where such a part ends.
    pub(super) fn end(&self, part: Part) -> usize {
        match part {
            Part::TypeNames => self.stack_sites,
            Part::StackSites => self.frames,
            Part::Frames => self.threads,
            Part::Threads => self.len,
        }
    }
}

/// A part that grows as it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Names of declared types.
    TypeNames = 0,
    /// Sites with call stacks.
    StackSites = 1,
    /// Frames of call stacks.
    Frames = 2,
    /// Threads.
    Threads = 3,
}

/// All of them.
pub(super) const PARTS: [Part; 4] =
    [Part::TypeNames, Part::StackSites, Part::Frames, Part::Threads];
