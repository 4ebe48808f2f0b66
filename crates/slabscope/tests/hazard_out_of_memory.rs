//! Memory runs out while a trace is made: the kernel kills the program, or refuses it more. What it
//! had done until then can be read.
#![cfg(feature = "recorder")]

mod support;

use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use slabscope::Slabscope;
use slabscope_wire::alloc_free::EndReason;
use support::killed::finish;
use support::published::{Published, compare, make_counts, publish, published};
use support::{Traces, child, replay, succeed};

#[global_allocator]
static GLOBAL: Published = Published(Slabscope::new());

/// Threads of the program that takes too much, the harness's among them.
const THREADS: u64 = 4;

/// A group of processes that may have so much memory together; removed at the end.
struct MemoryGroup(PathBuf);

impl MemoryGroup {
    /// In either version of the kernel's interface; `None` where this user may not.
    fn new(limit: u64) -> Option<MemoryGroup> {
        let name = format!("slabscope-test-{}", std::process::id());
        let ways =
            [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];
        ways.into_iter().find_map(|(root, file)| {
            let group = MemoryGroup(Path::new(root).join(&name));
            fs::create_dir(&group.0).ok()?;
            fs::write(group.0.join(file), limit.to_string()).ok()?;
            // Where the machine has swap, it is not to be used.
            let _ = fs::write(group.0.join("memory.swap.max"), "0");
            let _ = fs::write(group.0.join("memory.swappiness"), "0");
            Some(group)
        })
    }

    /// Has the program that `command` starts be in the group.
    fn take(&self, command: &mut Command) {
        let list = self.0.join("cgroup.procs");
        let enter = move || fs::write(&list, std::process::id().to_string());
        // SAFETY: this allocator may be used after fork, and the child has but one thread.
        unsafe { command.pre_exec(enter) };
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // The kernel counts its processes as gone a moment after they are.
        for _ in 0..100 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

#[test]
fn what_the_kernel_kills_for_its_memory_leaves_every_event() {
    for rings in ["auto", "cas"] {
        let Some(group) = MemoryGroup::new(96 << 20) else {
            println!("skipped: this user may not make a group of limited memory");
            return;
        };
        let traces = Traces::new();
        let path = traces.path(&format!("memory-killed-{rings}.trace"));
        let counts = path.with_extension("counts");
        make_counts(&counts);
        let variable = format!("traceallocfree=1,rings={rings},out={}", path.display());
        let mut command = child("takes_too_much", Some(&variable));
        group.take(command.env("COUNTS", &counts));
        let output = command.output().expect("it starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(libc::SIGKILL), "{:?} {stderr}", output.status);
        let done = published(&counts);
        finish(&path);
        let replayed = replay(&path);
        assert_eq!((replayed.lost(), replayed.reason()), (0, Some(EndReason::Killed)));
        compare(&replayed, done, THREADS);
        // What took the memory is live at the end of the trace.
        let large =
            |site: &&u64| replayed.sites.get(site).is_some_and(|&(size, _)| size == LARGE as u64);
        let live = replayed.objects.values().filter(large).count();
        assert!(live * LARGE > 32 << 20, "{live} large objects are live");
    }
}

const LARGE: usize = 1_000_000;

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn takes_too_much() {
    publish(&std::env::var("COUNTS").expect("the parent says where"));
    let take = || {
        let mut kept = Vec::new();
        loop {
            kept.push(std::hint::black_box(vec![1_u8; LARGE]));
            let small: Vec<String> = (0..200).map(|n| n.to_string()).collect();
            drop(std::hint::black_box(small));
        }
    };
    let _second = std::thread::spawn(take);
    take()
}

/// Runs the program `name` with a limit on what `resource` says.
fn limited(
    name: &str,
    path: &Path,
    resource: libc::__rlimit_resource_t,
    megabytes: u64,
) -> Command {
    let variable = format!("traceallocfree=1,out={}", path.display());
    let mut command = child(name, Some(&variable));
    let limit = libc::rlimit { rlim_cur: megabytes << 20, rlim_max: megabytes << 20 };
    // SAFETY: setrlimit may be called between fork and exec.
    unsafe {
        command.pre_exec(move || match libc::setrlimit(resource, &raw const limit) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        })
    };
    command
}

const LIMITS: [(&str, libc::__rlimit_resource_t, u64); 2] =
    [("as", libc::RLIMIT_AS, 2048), ("data", libc::RLIMIT_DATA, 512)];

#[test]
fn a_program_that_is_refused_memory_and_goes_on_has_a_whole_trace() {
    for (name, resource, megabytes) in LIMITS {
        let traces = Traces::new();
        let path = traces.path(&format!("memory-refused-{name}.trace"));
        let output = succeed(&mut limited("is_refused", &path, resource, megabytes));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        let replayed = replay(&path);
        assert_eq!((replayed.lost(), replayed.reason()), (0, Some(EndReason::Exited)));
        assert!(replayed.counts[4] > 100);
    }
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn is_refused() {
    let mut kept: Vec<Vec<u8>> = Vec::new();
    loop {
        let mut more = Vec::new();
        if more.try_reserve_exact(1 << 20).is_err() {
            break;
        }
        kept.push(more);
        assert!(kept.len() < 4096, "nothing is refused");
    }
    // There is room for small things again, and the trace has them.
    kept.truncate(kept.len() / 2);
    let small: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
    assert!(small.len() + kept.len() > 1000);
}

#[test]
fn a_program_that_aborts_for_want_of_memory_leaves_every_event() {
    for (name, resource, megabytes) in LIMITS {
        let traces = Traces::new();
        let path = traces.path(&format!("memory-aborted-{name}.trace"));
        let counts = path.with_extension("counts");
        make_counts(&counts);
        let mut command = limited("takes_too_much", &path, resource, megabytes);
        let output = command.env("COUNTS", &counts).output().expect("it starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{stderr}");
        assert!(stderr.contains("memory allocation of"), "{stderr}");
        let done = published(&counts);
        finish(&path);
        let replayed = replay(&path);
        assert_eq!((replayed.lost(), replayed.reason()), (0, Some(EndReason::Killed)));
        compare(&replayed, done, THREADS);
    }
}
