//! A disk that is full before the trace begins, or becomes so while it is made.
#![cfg(feature = "recorder")]

mod support;

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use slabscope_wire::alloc_free::EndReason;
use support::workers::Random;
use support::{child, names, replay};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

const CODE: i32 = 11;

/// A small disk, in memory.
struct Disk(tempfile::TempDir);

impl Disk {
    /// Of so many bytes; `None` where this user may not have one.
    fn new(bytes: u64) -> Option<Disk> {
        let directory = tempfile::tempdir().expect("a directory");
        let place = CString::new(directory.path().as_os_str().as_bytes()).expect("a path");
        let options = CString::new(format!("size={bytes}")).expect("no NUL");
        // SAFETY: all are C strings.
        let mounted = unsafe {
            libc::mount(
                c"tmpfs".as_ptr(),
                place.as_ptr(),
                c"tmpfs".as_ptr(),
                0,
                options.as_ptr().cast(),
            )
        };
        (mounted == 0).then_some(Disk(directory))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let place = CString::new(self.path().as_os_str().as_bytes()).expect("a path");
        // SAFETY: it is a C string.
        unsafe { libc::umount2(place.as_ptr(), libc::MNT_DETACH) };
    }
}

#[test]
fn a_disk_that_fills_up_ends_the_trace_and_not_the_program() {
    // Too small for the live file; and large enough, but not for the trace.
    for (megabytes, live) in [(3, false), (24, true), (32, true)] {
        let Some(disk) = Disk::new(megabytes << 20) else {
            println!("skipped: this user may not mount a disk");
            return;
        };
        let path = disk.path().join("full.trace");
        let variable = format!("traceallocfree=1,out={}", path.display());
        let output = child("busy", Some(&variable)).output().expect("it starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(CODE), "{megabytes} MB: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{megabytes} MB: {stderr}");
        assert!(stderr.contains("no space left"), "{megabytes} MB: {stderr}");
        assert_eq!(names(disk.path()), ["full.trace"]);
        assert!(fs::metadata(&path).expect("a file").len() > 0);
        let replayed = replay(&path);
        assert_eq!(replayed.reason(), Some(EndReason::WriteFailed));
        assert!(replayed.lost() > 0);
        let survives = replayed.build.get("survives a kill").map(String::as_str);
        assert_eq!(survives == Some("yes"), live, "{megabytes} MB: {survives:?}");
    }
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn busy() {
    let mut random = Random(3);
    let mut kept: Vec<Vec<u8>> = Vec::new();
    for _ in 0..5_000_000 {
        kept.push(vec![1; 1 + random.below(200) as usize]);
        if kept.len() > 100 {
            kept.swap_remove(random.below(100) as usize);
        }
    }
    std::process::exit(CODE);
}
