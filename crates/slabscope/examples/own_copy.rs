//! A C library with a copy of the allocator of its own: what a plug-in written in Rust is.
//! `tests/hazard_dlopen.rs` loads it.

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

/// Allocates and frees on as many threads as asked for, which all end; returns what they counted.
#[unsafe(no_mangle)]
pub extern "C" fn own_copy_work(threads: u32) -> u64 {
    let count = |n: u32| (0..1000 + n).map(|k| k.to_string()).map(|text| text.len() as u64).sum();
    let threads: Vec<_> =
        (0..threads).map(|n| std::thread::spawn(move || -> u64 { count(n) })).collect();
    threads.into_iter().map(|thread| thread.join().unwrap_or(0)).sum()
}

/// Allocates on the calling thread, which may end before the library is asked again.
#[unsafe(no_mangle)]
pub extern "C" fn own_copy_live_bytes() -> u64 {
    let kept = vec![1_u8; 100_000];
    slabscope::stats().live().max(kept.len()) as u64
}

/// Calls back, so that the library stands between the program and itself on the stack.
#[unsafe(no_mangle)]
pub extern "C" fn own_copy_call(callback: extern "C" fn()) -> u64 {
    callback();
    // What comes after a call keeps it from being the function's last, which leaves no frame.
    std::hint::black_box(1)
}
