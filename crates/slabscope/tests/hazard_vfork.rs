//! Children that run in their parent's memory, as `vfork` makes them: what they do to the heap is the
//! parent's, and so are their events.
#![cfg(feature = "recorder")]

mod support;

use std::ffi::c_void;
use std::hint::black_box;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use slabscope_trace::alloc_free::GenerationData;
use slabscope_trace::{Kind, Reader};
use support::workers::Workers;
use support::{Traces, child, replay, succeed, wait};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

#[test]
fn programs_that_are_started_leave_the_trace_alone() {
    for rings in ["auto", "cas"] {
        let traces = Traces::new();
        let path = traces.path(&format!("vfork-spawn-{rings}.trace"));
        let variable = format!("traceallocfree=1,rings={rings},out={}", path.display());
        succeed(&mut child("spawns", Some(&variable)));
        assert_eq!(replay(&path).lost(), 0);
    }
}

fn allocate() -> std::io::Result<()> {
    drop(black_box(vec![1_u8; 100]));
    Ok(())
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn spawns() {
    let workers = Workers::start(3);
    for round in 0..50 {
        // By posix_spawn, and by fork with something to do before exec.
        let mut command = Command::new("/bin/true");
        if round % 2 == 1 {
            // SAFETY: this allocator may be used after fork.
            unsafe { command.pre_exec(allocate) };
        }
        assert!(command.status().expect("it starts").success());
    }
    workers.end();
}

#[test]
fn a_child_in_the_parent_s_memory_allocates_as_the_parent() {
    let traces = Traces::new();
    let path = traces.path("vfork-cas.trace");
    let variable = format!("traceallocfree=1,rings=cas,out={}", path.display());
    let output = succeed(&mut child("vforks", Some(&variable)));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let replayed = replay(&path);
    assert_eq!(replayed.lost(), 0);
    assert!(replayed.counts[4] >= ROUNDS * OBJECTS);
}

/// The kernel restarts no sequence in such a child, so its events may meet those of others in a ring.
/// What cannot be read ends the trace; the program does not notice.
#[test]
fn a_child_in_the_parent_s_memory_costs_the_trace_at_worst() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("vfork.trace");
    let variable = format!("traceallocfree=1,rings=auto,out={}", path.display());
    let output = succeed(&mut child("vforks", Some(&variable)));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.lines().count() <= 1, "{stderr}");
    assert!(stderr.is_empty() || stderr.contains("rings=cas"), "{stderr}");
    let bytes = std::fs::read(&path).expect("a trace");
    let mut closing = None;
    for event in Reader::new(&bytes).expect("a header") {
        if let Kind::Sync(sync) = event.expect("the trace can be read").kind {
            closing = GenerationData::parse(&sync.experimental).closing.or(closing);
        }
    }
    let closing = closing.expect("closing counts");
    let lost = closing.kinds.iter().any(|kind| kind.2 > 0);
    assert!(lost || stderr.is_empty(), "the trace ended early, and counts nothing as lost");
}

const ROUNDS: u64 = 1000;
const OBJECTS: u64 = 1000;

static MADE: AtomicU64 = AtomicU64::new(0);

/// In the child: objects, half of which the parent frees.
extern "C" fn in_child(kept: *mut c_void) -> i32 {
    // SAFETY: the parent passes its list, and waits.
    let kept = unsafe { &mut *kept.cast::<Vec<String>>() };
    for n in 0..OBJECTS {
        let text = n.to_string();
        if n % 2 == 0 {
            kept.push(text);
        }
        MADE.fetch_add(1, Ordering::Relaxed);
    }
    0
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn vforks() {
    let workers = Workers::start(3);
    let mut stack = vec![0_u128; 1 << 14];
    for _ in 0..ROUNDS {
        let mut kept: Vec<String> = Vec::new();
        // What vfork does, but on a stack of its own, so that the compiler need not know.
        // SAFETY: the child runs `in_child` on that stack while this thread waits, and nothing else.
        let pid = unsafe {
            let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
            let top = stack.as_mut_ptr_range().end.cast();
            libc::clone(in_child, top, flags, (&raw mut kept).cast())
        };
        assert_eq!(wait(pid), 0);
        assert_eq!(kept.len() as u64, OBJECTS / 2);
    }
    assert_eq!(MADE.load(Ordering::Relaxed), ROUNDS * OBJECTS);
    workers.end();
}
