//! Modules that there is no memory for when they are looked for.

use slabscope_os::clock;
use slabscope_unwind::Unwinder;

/// How far the limit of a try is above that of the one before, in bytes.
const STEP: u64 = 16 << 10;

/// The process's address space now, in bytes.
fn size() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("a process looks at itself");
    pages.split(' ').next().and_then(|pages| pages.parse::<u64>().ok()).expect("a number") * 4096
}

/// Limits the address space, or lifts the limit.
fn limit(soft: u64) {
    let limit = libc::rlimit { rlim_cur: soft, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the limit is valid for the call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
}

#[test]
fn modules_that_have_no_room_are_counted_and_found_once_they_have() {
    static UNWINDER: Unwinder = Unwinder::new();
    let (mut left_out, mut found, mut room) = (0, 0, 0);
    let mut tries = 0;
    while found == 0 || UNWINDER.left_out() > 0 {
        let before = size();
        limit(before + room);
        let scanned = UNWINDER.scan(clock::monotonic_ns());
        limit(libc::RLIM_INFINITY);
        if scanned.is_ok() {
            left_out = left_out.max(UNWINDER.left_out());
            found = 0;
            UNWINDER.each_module(|_| found += 1);
        }
        // What it has by now it keeps, and the next try asks for the rest.
        room = if size() > before { 0 } else { room + STEP };
        tries += 1;
        assert!(tries < 10_000, "{found} found, {} left out", UNWINDER.left_out());
    }
    assert!(left_out > 0, "each try found no memory at all, or enough");
    let mut ends = Vec::new();
    UNWINDER.each_module(|module| ends.push((module.first, module.end)));
    assert!(ends.iter().all(|&(first, end)| first < end), "{ends:?}");
    let own = size as *const () as usize;
    assert!(ends.iter().any(|&(first, end)| (first..end).contains(&own)));
    assert_eq!(UNWINDER.scan(clock::monotonic_ns()), Ok(false));
}
