//! A program that becomes a daemon: it forks twice, in a session of its own, and each parent leaves.
//! The trace is that of the process which the variable was given to; `follow=1` has one for each.
#![cfg(feature = "recorder")]

mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use slabscope_wire::alloc_free::EndReason;
use support::killed::{finish, live_path};
use support::{Replayed, child, names, replay, succeed};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

/// What the daemon writes, in its directory, when it is done.
const DONE: &str = "done";

/// Runs the program `name`, and waits until the daemon it leaves behind is done too.
fn run(name: &str, directory: &Path, options: &str) {
    let pattern = directory.join("%p.trace");
    let variable = format!("traceallocfree=1,{options}out={}", pattern.display());
    let output = succeed(child(name, Some(&variable)).env("DIRECTORY", directory));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let begun = Instant::now();
    while !directory.join(DONE).exists() {
        assert!(begun.elapsed() < Duration::from_secs(30), "the daemon hangs");
        std::thread::sleep(Duration::from_millis(5));
    }
    // It exits after that, and its trace, if any, ends.
    while std::fs::read_to_string(directory.join(DONE)).is_ok_and(|pid| is_there(pid.trim())) {
        assert!(begun.elapsed() < Duration::from_secs(30), "the daemon hangs");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::fs::remove_file(directory.join(DONE)).expect("the daemon's mark");
}

fn is_there(pid: &str) -> bool {
    Path::new("/proc").join(pid).exists()
}

/// The traces in the directory, each finished first if it has to be.
fn traces(directory: &Path) -> Vec<Replayed> {
    let traces = names(directory).into_iter().filter(|name| name.ends_with(".trace"));
    let traces = traces.map(|name| {
        let path = directory.join(name);
        if live_path(&path).exists() {
            finish(&path);
        }
        replay(&path)
    });
    let traces: Vec<_> = traces.collect();
    assert!(traces.iter().all(|trace| trace.lost() == 0));
    assert_eq!(names(directory).len(), traces.len(), "{:?}", names(directory));
    traces
}

#[test]
fn a_daemon_has_no_trace_and_its_parent_s_is_whole() {
    let directory = tempfile::tempdir().expect("a directory");
    run("daemon_by_exit", directory.path(), "");
    let [parent] = traces(directory.path()).try_into().expect("one trace");
    assert_eq!(parent.reason(), Some(EndReason::Exited));
    assert!(parent.counts[4] > 1000);
}

#[test]
fn a_parent_that_leaves_by_underscore_exit_leaves_a_trace_to_finish() {
    let directory = tempfile::tempdir().expect("a directory");
    run("daemon_by_libc", directory.path(), "");
    let [parent] = traces(directory.path()).try_into().expect("one trace");
    assert_eq!(parent.reason(), Some(EndReason::Killed));
    assert!(parent.counts[4] > 1000);
}

#[test]
fn a_daemon_that_is_followed_has_a_trace_of_its_own() {
    let directory = tempfile::tempdir().expect("a directory");
    run("daemon_by_exit", directory.path(), "follow=1,");
    let found = traces(directory.path());
    // The one in the middle allocates nothing before it leaves, or something.
    assert!((2..=3).contains(&found.len()), "{:?}", names(directory.path()));
    let daemon = |trace: &&Replayed| trace.threads.values().any(|name| name == "daemon");
    let daemon = found.iter().find(daemon).expect("the daemon's trace");
    assert_eq!(daemon.reason(), Some(EndReason::Exited));
    assert!(daemon.counts[3] > 0, "what its parent left it is there at the start");
    assert!(daemon.counts[4] > 5000);
}

fn allocate(count: usize) -> Vec<String> {
    (0..count).map(|n| n.to_string()).collect()
}

/// What the daemon does: allocate, in a thread of its own, and say so.
fn be_the_daemon() -> ! {
    let work = std::thread::Builder::new().name("daemon".into()).spawn(|| allocate(5000).len());
    assert_eq!(work.expect("a thread").join().expect("it ends well"), 5000);
    let directory = std::env::var("DIRECTORY").expect("the parent says where");
    let done = Path::new(&directory).join(DONE);
    // Whole when it appears.
    let written = done.with_extension("new");
    std::fs::write(&written, std::process::id().to_string()).expect("a mark");
    std::fs::rename(written, done).expect("a mark");
    std::process::exit(0)
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn daemon_by_exit() {
    let kept = allocate(1000);
    // SAFETY: the children allocate, which this allocator allows after fork.
    if unsafe { libc::fork() } != 0 {
        std::process::exit(0);
    }
    // SAFETY: these take nothing; each outcome is dealt with.
    unsafe {
        assert!(libc::setsid() > 0);
        if libc::fork() != 0 {
            libc::_exit(0);
        }
    }
    assert_eq!(kept.len(), 1000);
    be_the_daemon()
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn daemon_by_libc() {
    let kept = allocate(1000);
    // SAFETY: it takes two numbers; the parent leaves by `_exit` in there.
    assert_eq!(unsafe { libc::daemon(1, 0) }, 0);
    assert_eq!(kept.len(), 1000);
    be_the_daemon()
}
