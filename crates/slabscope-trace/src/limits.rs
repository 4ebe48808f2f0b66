//! How large things in a trace may be; more is an error, as it is to Go.

/// The most bytes in a string.
pub(crate) const STRING_MAX: u64 = 1024;

/// The most frames in a stack.
pub(crate) const FRAMES_MAX: u64 = 128;
