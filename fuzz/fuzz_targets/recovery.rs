//! Any bytes as a live file and its trace: `cargo +nightly fuzz run recovery`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| slabscope_fuzz::recovery::recovery(bytes));
