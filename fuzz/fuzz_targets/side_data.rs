//! Any bytes as side data: `cargo xtask fuzz side_data`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| slabscope_fuzz::trace::side_data(bytes));
