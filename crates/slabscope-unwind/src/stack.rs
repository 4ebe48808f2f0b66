//! A call stack as it is walked.

use core::mem::MaybeUninit;

use slabscope_wire::alloc_free::frame;

/// The most frames that can be asked for.
pub const DEPTH_MAX: usize = 64;

/// What each frame of a stack counts for in its hash, against the one that it called.
///
/// The hash is a polynomial in this, so that of an outer part of a stack leads to that of the whole.
pub(crate) const RATIO: u64 = 0xd6e8_feb8_6659_fd93;

/// How many frames a stack has at most.
#[derive(Clone, Copy, Debug)]
pub struct Depth {
    frames: usize,
    /// [`RATIO`] to the power of that.
    factor: u64,
}

impl Depth {
    /// So many, but one at least and [`DEPTH_MAX`] at most.
    pub const fn new(frames: usize) -> Self {
        let frames = if frames == 0 { 1 } else { frames };
        let frames = if frames > DEPTH_MAX { DEPTH_MAX } else { frames };
        Depth { frames, factor: RATIO.wrapping_pow(frames as u32) }
    }

    /// How many.
    #[inline(always)]
    pub const fn frames(self) -> usize {
        self.frames
    }

    #[inline(always)]
    pub(crate) const fn factor(self) -> u64 {
        self.factor
    }
}

const FLAGS_SHIFT: u32 = 56;

/// An address and its flags (`slabscope_wire::alloc_free::frame`): `[flags : 8 | address : 56]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Frame(u64);

impl Frame {
    #[inline(always)]
    pub(crate) fn new(address: usize, flags: u64) -> Self {
        Frame(address as u64 & ((1 << FLAGS_SHIFT) - 1) | flags << FLAGS_SHIFT)
    }

    /// It, from its word.
    pub fn from_word(word: u64) -> Self {
        Frame(word)
    }

    /// It as a word, which is never zero.
    pub fn word(self) -> u64 {
        self.0
    }

    /// The address.
    pub fn address(self) -> u64 {
        self.0 & ((1 << FLAGS_SHIFT) - 1)
    }

    /// The flags.
    pub fn flags(self) -> u64 {
        self.0 >> FLAGS_SHIFT
    }

    /// Whether the stack goes on where it was left off.
    pub fn is_complete(self) -> bool {
        self.flags() & (frame::CUT | frame::TRUNCATED) == 0
    }
}

/// Frames, the innermost first.
#[derive(Debug)]
pub struct CallStack {
    /// Written up to `len`: clearing half a kilobyte for each event would cost more than the walk.
    frames: [MaybeUninit<Frame>; DEPTH_MAX],
    len: usize,
    hash: u64,
}

impl CallStack {
    /// An empty one.
    #[inline(always)]
    #[expect(clippy::new_without_default, reason = "it is made where it is filled")]
    pub fn new() -> Self {
        CallStack { frames: [const { MaybeUninit::uninit() }; DEPTH_MAX], len: 0, hash: 0 }
    }

    /// The frames.
    pub fn frames(&self) -> &[Frame] {
        let written = self.frames.get(..self.len).unwrap_or_default();
        // SAFETY: `push` wrote the first `len` of them.
        unsafe { &*(core::ptr::from_ref(written) as *const [Frame]) }
    }

    /// Whether it ends before the thread's beginning, since nobody knew how to go on; so does one that
    /// did not even begin.
    pub fn is_truncated(&self) -> bool {
        self.frames().last().is_none_or(|last| last.flags() & frame::TRUNCATED != 0)
    }

    /// A number that two different stacks hardly ever share.
    #[inline(always)]
    pub fn hash(&self) -> u64 {
        self.hash
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Adds a frame; a full stack stays as it is.
    #[inline(always)]
    pub(crate) fn push(&mut self, frame: Frame) {
        if let Some(place) = self.frames.get_mut(self.len) {
            place.write(frame);
            self.len += 1;
        }
    }

    #[inline(always)]
    pub(crate) fn set_hash(&mut self, hash: u64) {
        self.hash = hash;
    }
}
