//! Programs killed at random moments: the trace, finished from the live file, has every event of
//! every operation that had come to its end.
//!
//! `SLABSCOPE_KILLS` says how many are killed; the program publishes its own counts in a file.

mod support;

use std::alloc::{GlobalAlloc, Layout};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Child;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::time::Duration;

use slabscope::Slabscope;
use slabscope_wire::alloc_free::EndReason;
use support::killed::finish;
use support::workers::{Random, Workers};
use support::{Replayed, Traces, child, replay};

/// Threads of the program that is killed.
const THREADS: u64 = 4;

/// Slabscope, and counts of operations that have come to their end.
struct Published(Slabscope);

/// Two counts, allocations and frees, in memory that outlives the process.
static COUNTS: AtomicPtr<[AtomicU64; 2]> = AtomicPtr::new(std::ptr::null_mut());

/// Before there is such memory.
static EARLY: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

fn count(which: usize) {
    // SAFETY: null, or memory that stays mapped as long as the process lives.
    let counts = unsafe { COUNTS.load(Ordering::Acquire).as_ref() }.unwrap_or(&EARLY);
    counts[which].fetch_add(1, Ordering::Release);
}

// SAFETY: everything is passed on; counting changes nothing. `realloc` is the trait's own, so it is
// made of the others.
unsafe impl GlobalAlloc for Published {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: passed on to the caller.
        let object = unsafe { self.0.alloc(layout) };
        count(0);
        object
    }

    unsafe fn dealloc(&self, object: *mut u8, layout: Layout) {
        // SAFETY: passed on to the caller.
        unsafe { self.0.dealloc(object, layout) };
        count(1);
    }
}

#[global_allocator]
static GLOBAL: Published = Published(Slabscope::new());

#[test]
fn a_killed_program_leaves_every_event() {
    let kills = std::env::var("SLABSCOPE_KILLS").map_or(12, |n| n.parse().expect("a number"));
    let mut random = Random(0x5eed + u64::from(std::process::id()));
    let traces = Traces::new();
    let mut recovered = 0;
    for round in 0..kills {
        let rings = ["auto", "cas"][round % 2];
        let signal = [libc::SIGKILL, libc::SIGABRT, libc::SIGSEGV][round % 3];
        let path = traces.path(&format!("kill-{rings}.trace"));
        // Up to a second, short waits as likely as long ones.
        let longest = 1 << (10 + random.below(11));
        let wait = Duration::from_micros(500 + random.below(longest));
        recovered += kill_one(&path, rings, signal, wait);
    }
    assert!(recovered > 0, "no event was ever in a ring only");
    println!("{kills} killed; {recovered} events came from rings; none was lost");
}

/// Kills a program after a while; returns how many events only the live file had.
fn kill_one(path: &Path, rings: &str, signal: i32, wait: Duration) -> u64 {
    let counts = path.with_extension("counts");
    fs::write(&counts, [0; 16]).expect("a file for the counts");
    let _ = fs::remove_file(path);
    let variable = format!("traceallocfree=1,rings={rings},out={}", path.display());
    let mut command = child("busy", Some(&variable));
    command.env("COUNTS", &counts).stdout(std::process::Stdio::null());
    let mut program = command.spawn().expect("it starts");
    // Not before it counts where we can see it.
    while published(&counts)[0] == 0 {
        assert_eq!(program.try_wait().expect("it can be waited for"), None, "it ended by itself");
    }
    std::thread::sleep(wait);
    kill(&mut program, signal);
    let [allocs, frees] = published(&counts);
    let events = finish(path);
    let replayed = replay(path);
    assert_eq!(replayed.lost(), 0);
    assert_eq!(replayed.reason(), Some(EndReason::Killed));
    compare(&replayed, allocs, frees);
    events
}

fn published(path: &Path) -> [u64; 2] {
    let bytes = fs::read(path).expect("the counts");
    [0, 8].map(|at| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes")))
}

fn kill(program: &mut Child, signal: i32) {
    let pid = i32::try_from(program.id()).expect("a process id");
    let status = loop {
        // The standard library's handler for SIGSEGV lets one pass that was no fault.
        // SAFETY: the process is our child and not waited for yet.
        unsafe { libc::kill(pid, signal) };
        if let Some(status) = program.try_wait().expect("it can be waited for") {
            break status;
        }
        std::thread::sleep(Duration::from_micros(200));
    };
    assert_eq!(status.signal(), Some(signal));
}

/// Operations that ended have their event; those under way may have one, at most one a thread.
fn compare(replayed: &Replayed, allocs: u64, frees: u64) {
    let (traced_allocs, traced_frees) = (replayed.counts[4], replayed.counts[5]);
    // The workers, and the program's own two threads.
    let under_way = THREADS + 2;
    assert!(
        (allocs..=allocs + under_way).contains(&traced_allocs),
        "{allocs} allocations ended, {traced_allocs} are in the trace"
    );
    assert!(
        (frees..=frees + under_way).contains(&traced_frees),
        "{frees} frees ended, {traced_frees} are in the trace"
    );
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn busy() {
    publish(&std::env::var("COUNTS").expect("the parent says where"));
    let _workers = Workers::start(THREADS as usize);
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// From now on counts are in the file.
fn publish(path: &str) {
    use std::os::fd::AsRawFd;
    let file = fs::File::options().read(true).write(true).open(path).expect("a file");
    // SAFETY: without MAP_FIXED the kernel picks a place where nothing else is mapped.
    let place = unsafe {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        libc::mmap(std::ptr::null_mut(), 4096, protection, libc::MAP_SHARED, file.as_raw_fd(), 0)
    };
    assert_ne!(place, libc::MAP_FAILED);
    let counts: *mut [AtomicU64; 2] = place.cast();
    // No thread but this one allocates yet.
    for (which, early) in EARLY.iter().enumerate() {
        // SAFETY: the mapping is large enough and aligned, and stays.
        unsafe { (*counts)[which].store(early.load(Ordering::Relaxed), Ordering::Relaxed) };
    }
    COUNTS.store(counts, Ordering::Release);
}
