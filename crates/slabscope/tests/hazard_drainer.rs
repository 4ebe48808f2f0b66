//! A drainer that comes no more: its thread is frozen for good, in the middle of whatever it did. The
//! program waits for it as long as it was told, says so once, and goes on to its own end.
#![cfg(feature = "recorder")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use slabscope_trace::alloc_free::GenerationData;
use slabscope_trace::{Kind, Reader};
use slabscope_wire::alloc_free::EndReason;
use support::child;
use support::killed::{finish, live_path};
use support::workers::churn_on_two_threads;

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

/// A group whose threads can be frozen one by one: version 1 of the kernel's interface has it.
struct Freezer(PathBuf);

impl Freezer {
    fn new() -> Option<Freezer> {
        let name = format!("slabscope-test-{}", std::process::id());
        let freezer = Freezer(Path::new("/sys/fs/cgroup/freezer").join(name));
        fs::create_dir(&freezer.0).ok()?;
        freezer.0.join("freezer.state").exists().then_some(freezer)
    }

    fn freeze(&self, thread: &str) {
        fs::write(self.0.join("tasks"), thread).expect("the thread can be moved");
        self.set("FROZEN");
        let begun = Instant::now();
        while fs::read_to_string(self.0.join("freezer.state")).expect("a state").trim() != "FROZEN"
        {
            assert!(begun.elapsed() < Duration::from_secs(60), "it does not freeze");
        }
    }

    fn set(&self, state: &str) {
        fs::write(self.0.join("freezer.state"), state).expect("the state can be set");
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        let _ = fs::write(self.0.join("freezer.state"), "THAWED");
        for _ in 0..100 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The thread of `program` that has this name.
fn thread_named(program: &Child, name: &str) -> Option<String> {
    let tasks = fs::read_dir(format!("/proc/{}/task", program.id())).ok()?;
    let tasks = tasks.filter_map(Result::ok);
    let found = tasks.filter(|task| {
        fs::read_to_string(task.path().join("comm")).is_ok_and(|comm| comm.trim() == name)
    });
    found.map(|task| task.file_name().to_string_lossy().into_owned()).next()
}

#[test]
fn a_drainer_that_is_gone_neither_hangs_nor_kills_the_program() {
    for policy in ["rings=auto", "rings=cas", "overflow=drop"] {
        let Some(freezer) = Freezer::new() else {
            println!("skipped: this user, or this kernel, cannot freeze a thread");
            return;
        };
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("drainer.trace");
        let variable = format!("traceallocfree=1,stall=1s,{policy},out={}", path.display());
        let mut command = child("busy", Some(&variable));
        command.env("DIRECTORY", directory.path()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut program = command.spawn().expect("it starts");
        let await_file = |name: &str| {
            let begun = Instant::now();
            while !directory.path().join(name).exists() {
                assert!(begun.elapsed() < Duration::from_secs(60), "{policy}: it hangs");
                std::thread::sleep(Duration::from_millis(2));
            }
        };
        await_file("begun");
        // It gives itself its name, when it gets to it.
        let begun = Instant::now();
        let drainer = loop {
            if let Some(drainer) = thread_named(&program, "slabscope-drain") {
                break drainer;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{policy}: there is no drainer");
            std::thread::sleep(Duration::from_millis(2));
        };
        freezer.freeze(&drainer);
        fs::write(directory.path().join("frozen"), "").expect("a file");
        await_file("worked");
        // After that it exits: the handler that ends the trace waits, and the one after it writes.
        await_file("exited");
        // The kernel ends no process with a frozen thread.
        freezer.set("THAWED");
        let output = {
            assert_eq!(program.wait().expect("it ends").code(), Some(0), "{policy}");
            program.wait_with_output().expect("what it said")
        };
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(stderr.lines().count(), 1, "{policy}: {stderr}");
        assert!(stderr.contains("took nothing for 1 s"), "{policy}: {stderr}");
        assert_can_be_read(&path);
    }
}

/// The trace has what the drainer had written, and what the rings took after that.
fn assert_can_be_read(path: &Path) {
    if live_path(path).exists() {
        finish(path);
    }
    let bytes = fs::read(path).expect("a trace");
    let (mut events, mut closing) = (0, None);
    for event in Reader::new(&bytes).expect("a header") {
        match event.expect("the trace can be read").kind {
            Kind::Experimental(_) => events += 1,
            Kind::Sync(sync) => {
                closing = GenerationData::parse(&sync.experimental).closing.or(closing);
            }
            _ => {}
        }
    }
    // More than a ring holds.
    assert!(events > 20_000, "{events}");
    let reason = closing.and_then(|closing| closing.reason);
    assert!(matches!(reason, Some(EndReason::Killed | EndReason::WriteFailed)), "{reason:?}");
}

#[used]
#[unsafe(link_section = ".init_array")]
static EARLY: extern "C" fn() = {
    /// Before the first allocation, so it runs after the handler that ends the trace.
    extern "C" fn early() {
        // SAFETY: the function lives as long as the program.
        unsafe { libc::atexit(late) };
    }
    extern "C" fn late() {
        if std::env::args().any(|argument| argument == "busy") {
            mark("exited");
        }
    }
    early
};

fn directory() -> PathBuf {
    PathBuf::from(std::env::var_os("DIRECTORY").expect("the parent says where"))
}

fn mark(name: &str) {
    fs::write(directory().join(name), "").expect("a file");
}

/// More events than the rings take.
#[test]
#[ignore = "run by its parent, in a process of its own"]
fn busy() {
    mark("begun");
    while !directory().join("frozen").exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    churn_on_two_threads();
    mark("worked");
}
