//! Any bytes as an index and its trace: `cargo xtask fuzz index`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| slabscope_fuzz::index::index(bytes));
