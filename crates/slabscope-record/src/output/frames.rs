//! Chunks as frames of the zstd format, one each: what was written can be read whatever comes after.

use core::ptr::NonNull;

use slabscope_os::zstd::Compressor;

use super::CHUNK;
use crate::mapped::Mapped;

/// What frames are made with.
#[derive(Debug)]
pub(super) struct Frames {
    compressor: Compressor,
    /// The compressor's own; kept for as long as it.
    _workspace: Mapped<u8>,
    frame: Mapped<u8>,
}

impl Frames {
    /// `None` when there is no memory.
    pub(super) fn new() -> Option<Frames> {
        let len = Compressor::workspace_len();
        let mut workspace = Mapped::new(len)?;
        let start = NonNull::from(workspace.as_mut_slice()).cast();
        // SAFETY: the mapping stays where it is until the value is dropped, and is touched by nobody
        // else.
        let compressor = unsafe { Compressor::new(start, len)? };
        let frame = Mapped::new(Compressor::frame_max(CHUNK))?;
        Some(Frames { compressor, _workspace: workspace, frame })
    }

    /// A frame of `bytes`, at most a chunk.
    pub(super) fn of(&mut self, bytes: &[u8]) -> Option<&[u8]> {
        let len = self.compressor.frame(bytes, self.frame.as_mut_slice())?;
        self.frame.get(..len)
    }
}
