//! Any bytes as a live file and its trace: `cargo xtask fuzz recovery`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| slabscope_fuzz::recovery::recovery(bytes));
