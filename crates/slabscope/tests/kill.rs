//! Programs killed at random moments: the trace, finished from the live file, has every event of
//! every operation that had come to its end.
//!
//! `SLABSCOPE_KILLS` says how many are killed; the program publishes its own counts in a file.
#![cfg(feature = "recorder")]

mod support;

use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use slabscope::Slabscope;
use slabscope_trace::alloc_free::GenerationData;
use slabscope_trace::{Kind, Reader};
use slabscope_wire::alloc_free::EndReason;
use slabscope_wire::live::header;
use support::killed::{finish, live_path};
use support::pester::{cpus, move_to};
use support::published::{Published, compare, make_counts, publish, published};
use support::workers::{Random, Workers};
use support::{Replayed, Traces, child, replay};

/// Threads of the program that is killed.
const THREADS: u64 = 4;

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
        let stacks = [0, 16, 16, 0][round % 4];
        let signal = [libc::SIGKILL, libc::SIGABRT, libc::SIGSEGV][round % 3];
        let path = traces.path(&format!("kill-{rings}.trace"));
        // Up to a second, short waits as likely as long ones.
        let longest = 1 << (10 + random.below(11));
        let wait = Duration::from_micros(500 + random.below(longest));
        recovered += kill_one(&path, rings, stacks, signal, wait);
    }
    assert!(recovered > 0, "no event was ever in a ring only");
    println!("{kills} killed; {recovered} events came from rings; none was lost");
}

#[test]
fn what_a_killed_program_dropped_is_counted() {
    let traces = Traces::new();
    for rings in ["auto", "cas"] {
        let path = traces.path(&format!("kill-drop-{rings}.trace"));
        let counts = path.with_extension("counts");
        make_counts(&counts);
        let out = path.display();
        let variable = format!("traceallocfree=1,overflow=drop,rings={rings},out={out}");
        let mut command = child("drops", Some(&variable));
        command.env("COUNTS", &counts).stdout(std::process::Stdio::null());
        let mut program = command.spawn().expect("it starts");
        let begun = Instant::now();
        while dropped(&path) < 1000 {
            assert_eq!(program.try_wait().expect("it can be waited for"), None, "it ended");
            assert!(begun.elapsed() < Duration::from_secs(120), "nothing is dropped");
            std::thread::sleep(Duration::from_millis(1));
        }
        kill(&mut program, libc::SIGKILL);
        let [allocs, frees] = published(&counts);
        finish(&path);
        let (in_file, kinds, by_ring) = closing(&path);
        // A drop is counted by its kind and then by its ring: the kill may come in between, on each thread.
        let by_kind = kinds.iter().map(|kind| kind.2).sum::<u64>();
        assert!((by_ring..=by_ring + THREADS + 2).contains(&by_kind), "{by_kind} and {by_ring}");
        assert!(by_ring >= 1000, "{by_ring}");
        for (kind, done) in [(4, allocs), (5, frees)] {
            let (_, happened, lost) = kinds[kind];
            assert_eq!(in_file[kind], happened - lost);
            assert!((done..=done + THREADS + 2).contains(&happened), "{done} and {happened}");
        }
    }
}

/// Events that a running program has dropped, as its live file says.
fn dropped(trace: &Path) -> u64 {
    let mut words = [0; header::LEN * 8];
    let read = fs::File::open(live_path(trace)).and_then(|mut file| file.read_exact(&mut words));
    let (words, _) = words.as_chunks::<8>();
    let kinds = words[header::DROPPED..].iter().map(|word| u64::from_le_bytes(*word));
    if read.is_ok() { kinds.sum() } else { 0 }
}

/// Events in the file by kind, the closing counts, and how many were dropped by ring. What is dropped may
/// leave contradictions, so it is only read.
fn closing(path: &Path) -> ([u64; 9], Vec<(u64, u64, u64)>, u64) {
    let bytes = fs::read(path).expect("a trace");
    let (mut in_file, mut kinds, mut by_ring) = ([0; 9], Vec::new(), 0);
    for event in Reader::new(&bytes).expect("a header") {
        match event.expect("it can be read").kind {
            Kind::Experimental(event) => in_file[usize::from(event.id) - 128] += 1,
            Kind::Sync(sync) => {
                let data = GenerationData::parse(&sync.experimental);
                by_ring += data.dropped.iter().map(|ring| ring.1).sum::<u64>();
                kinds = data.closing.map_or(kinds, |closing| closing.kinds);
            }
            _ => {}
        }
    }
    (in_file, kinds, by_ring)
}

/// Kills a program after a while; returns how many events only the live file had.
fn kill_one(path: &Path, rings: &str, stacks: usize, signal: i32, wait: Duration) -> u64 {
    let counts = path.with_extension("counts");
    make_counts(&counts);
    let _ = fs::remove_file(path);
    let variable = format!("traceallocfree=1,rings={rings},stacks={stacks},out={}", path.display());
    let mut command = child("busy", Some(&variable));
    command.env("COUNTS", &counts).stdout(std::process::Stdio::null());
    let mut program = command.spawn().expect("it starts");
    // Not before it counts where we can see it.
    while published(&counts)[0] == 0 {
        assert_eq!(program.try_wait().expect("it can be waited for"), None, "it ended by itself");
    }
    std::thread::sleep(wait);
    kill(&mut program, signal);
    let done = published(&counts);
    let events = finish(path);
    let replayed = replay(path);
    assert_eq!(replayed.lost(), 0);
    assert_eq!(replayed.reason(), Some(EndReason::Killed));
    check_stacks(&replayed, stacks);
    // The workers, and the program's own two threads.
    compare(&replayed, done, THREADS + 2);
    events
}

/// Each site has its stack, of frames in modules, also where only the live file had them.
fn check_stacks(replayed: &Replayed, depth: usize) {
    let sites = if depth == 0 { 0 } else { replayed.sites.len() };
    assert_eq!(replayed.stacks_of.len(), sites);
    let inside = |address| {
        replayed.modules.values().any(|module| (module.first..module.end).contains(&address))
    };
    for stack in replayed.stacks_of.values() {
        assert!((1..=depth).contains(&stack.len()));
        assert!(stack.iter().all(|frame| inside(frame.lookup_address())), "{stack:x?}");
    }
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

/// Its threads share one CPU with a drainer that runs only when nobody else wants to.
#[test]
#[ignore = "run by its parent, in a process of its own"]
fn drops() {
    let cpu = cpus()[0];
    for task in fs::read_dir("/proc/self/task").expect("threads") {
        let task = task.expect("a thread").file_name();
        let thread = task.to_string_lossy().parse().expect("a number");
        move_to(thread, cpu);
        // The calling thread may stay.
        // SAFETY: it takes nothing.
        if thread != unsafe { libc::gettid() } {
            let none = libc::sched_param { sched_priority: 0 };
            // SAFETY: the kernel reads the structure only.
            unsafe { libc::sched_setscheduler(thread, libc::SCHED_IDLE, &raw const none) };
        }
    }
    busy();
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
