//! Compression by the zstd library, in memory that it is given: it never asks for any.

use core::ptr::NonNull;

use zstd_sys as zstd;

/// What compression takes of the drainer's time is what it saves of the disk's: a level that keeps
/// up with a busy program.
const LEVEL: i32 = 3;

/// Makes frames of the zstd format, each whole by itself.
#[derive(Debug)]
pub struct Compressor {
    context: NonNull<zstd::ZSTD_CCtx>,
}

// SAFETY: the context lies in memory that is this value's alone, and is tied to no thread.
unsafe impl Send for Compressor {}

impl Compressor {
    /// How much memory it works in, in bytes.
    pub fn workspace_len() -> usize {
        // SAFETY: the call takes a number.
        unsafe { zstd::ZSTD_estimateCCtxSize(LEVEL) }
    }

    /// How long the frame of so many bytes can be.
    pub fn frame_max(len: usize) -> usize {
        // SAFETY: the call takes a number.
        unsafe { zstd::ZSTD_compressBound(len) }
    }

    /// One that works in these bytes; `None` when they are too few or not aligned to eight.
    ///
    /// # Safety
    /// The memory is writable, lives as long as the value, and nobody else touches it.
    pub unsafe fn new(workspace: NonNull<u8>, len: usize) -> Option<Compressor> {
        // SAFETY: the memory is the caller's to give, by the above.
        let context = unsafe { zstd::ZSTD_initStaticCCtx(workspace.as_ptr().cast(), len) };
        let context = NonNull::new(context)?;
        let parameters = [
            (zstd::ZSTD_cParameter::ZSTD_c_compressionLevel, LEVEL),
            (zstd::ZSTD_cParameter::ZSTD_c_checksumFlag, 1),
        ];
        for (parameter, value) in parameters {
            // SAFETY: the context was just made.
            let code = unsafe { zstd::ZSTD_CCtx_setParameter(context.as_ptr(), parameter, value) };
            is_fine(code)?;
        }
        Some(Compressor { context })
    }

    /// Compresses `input` into one frame at the start of `output`; its length, or `None` if `output`
    /// is too short.
    pub fn frame(&mut self, input: &[u8], output: &mut [u8]) -> Option<usize> {
        // SAFETY: both slices are valid for their lengths, and the context is this value's own.
        let code = unsafe {
            zstd::ZSTD_compress2(
                self.context.as_ptr(),
                output.as_mut_ptr().cast(),
                output.len(),
                input.as_ptr().cast(),
                input.len(),
            )
        };
        is_fine(code)
    }
}

/// What the library returns if it is no error.
fn is_fine(code: usize) -> Option<usize> {
    // SAFETY: the call takes a number.
    (unsafe { zstd::ZSTD_isError(code) } == 0).then_some(code)
}
