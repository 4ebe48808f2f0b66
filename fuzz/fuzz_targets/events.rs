//! Any bytes as a trace: `cargo xtask fuzz events`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| slabscope_fuzz::trace::events(bytes));
