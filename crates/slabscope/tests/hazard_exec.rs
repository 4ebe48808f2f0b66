//! `exec` in a traced program: the image is gone, and its threads with it, in the middle of what they
//! did. The trace before it can be finished, and has everything.
#![cfg(feature = "recorder")]

mod support;

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use slabscope_wire::alloc_free::EndReason;
use support::killed::{finish, live_path};
use support::workers::Workers;
use support::{Traces, child, names, replay, succeed};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

#[test]
fn the_trace_before_exec_can_be_finished() {
    for rings in ["auto", "cas"] {
        let traces = Traces::new();
        let path = traces.path(&format!("exec-{rings}.trace"));
        let variable = format!("traceallocfree=1,rings={rings},out={}", path.display());
        let output = succeed(child("becomes_another", Some(&variable)).env("THEN", "/bin/echo"));
        assert!(String::from_utf8_lossy(&output.stdout).contains("another program"));
        check_killed(&path);
    }
}

/// The trace of the image that is gone.
fn check_killed(path: &Path) {
    finish(path);
    let replayed = replay(path);
    assert_eq!((replayed.lost(), replayed.reason()), (0, Some(EndReason::Killed)));
    assert!(replayed.counts[4] > 1000, "{:?}", replayed.counts);
    assert!(replayed.sites.values().any(|&site| site == (77_777, 1)), "the last allocation");
}

#[test]
fn an_image_that_traces_too_leaves_the_trace_before_it_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    for pattern in ["%e.%p.trace", "fixed.trace"] {
        let out = directory.path().join(pattern);
        let variable = format!("traceallocfree=1,out={}", out.display());
        let output = succeed(child("becomes_itself", Some(&variable)).env("IMAGES", "3"));
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(stderr.lines().count(), 2, "{stderr}");
        assert!(stderr.contains("before exec"), "{stderr}");
        let found = names(directory.path());
        let found = found.iter().filter(|name| !name.ends_with(".live"));
        let found: Vec<_> = found.map(|name| directory.path().join(name)).collect();
        assert_eq!(found.len(), 3, "{found:?}");
        for path in found {
            if live_path(&path).exists() {
                check_killed(&path);
            } else {
                assert_eq!(replay(&path).reason(), Some(EndReason::Exited));
            }
            std::fs::remove_file(path).expect("the trace can be removed");
        }
        assert_eq!(names(directory.path()), Vec::<String>::new());
    }
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn becomes_another() {
    let _workers = Workers::start(3);
    become_after_work(
        Command::new(std::env::var_os("THEN").expect("a program")).arg("another program"),
    );
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn becomes_itself() {
    let images: u32 = std::env::var("IMAGES").ok().and_then(|n| n.parse().ok()).expect("a number");
    if images > 1 {
        let _workers = Workers::start(3);
        let mut next = Command::new(std::env::current_exe().expect("this program"));
        next.args(std::env::args_os().skip(1)).env("IMAGES", (images - 1).to_string());
        become_after_work(&mut next);
    }
}

/// Works, with one allocation more that the trace must have, and becomes `next`.
fn become_after_work(next: &mut Command) {
    let kept: Vec<String> = (0..2000).map(|n| n.to_string()).collect();
    std::thread::sleep(std::time::Duration::from_millis(20));
    drop(std::hint::black_box(vec![1_u8; 77_777]));
    let error = next.exec();
    panic!("{error}: {}", kept.len());
}
