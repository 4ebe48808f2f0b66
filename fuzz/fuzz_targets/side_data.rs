//! Any bytes as side data: `cargo +nightly fuzz run side_data`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| slabscope_fuzz::trace::side_data(bytes));
