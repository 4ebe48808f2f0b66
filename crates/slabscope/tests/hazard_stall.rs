//! A trace file that takes nothing: a pipe that nobody reads, or one read late.
#![cfg(feature = "recorder")]

mod support;

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use slabscope_trace::alloc_free::GenerationData;
use slabscope_trace::{Kind, Reader};
use support::workers::churn_on_two_threads;
use support::{Traces, child};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

const CODE: i32 = 9;

/// What the program says at its end.
const WORKED: &str = "it has worked";

fn pipe(directory: &Path) -> PathBuf {
    let path = directory.join("pipe");
    let name = CString::new(path.as_os_str().as_bytes()).expect("a path");
    // SAFETY: the name is a C string.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    path
}

/// The reading end, which reads nothing by itself and makes nobody wait.
fn reader(path: &Path) -> File {
    File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).expect("a pipe")
}

#[test]
fn a_pipe_without_a_reader_costs_one_line() {
    let directory = tempfile::tempdir().expect("a directory");
    let variable = format!("traceallocfree=1,out={}", pipe(directory.path()).display());
    let output = child("busy", Some(&variable)).output().expect("it starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(CODE), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.contains("a pipe that nobody reads"), "{stderr}");
}

#[test]
fn a_reader_that_sleeps_neither_hangs_nor_kills_the_program() {
    for policy in ["rings=auto", "rings=cas", "overflow=drop"] {
        let directory = tempfile::tempdir().expect("a directory");
        let path = pipe(directory.path());
        let _reader = reader(&path);
        let variable = format!("traceallocfree=1,stall=1s,{policy},out={}", path.display());
        let begun = Instant::now();
        let output = child("busy", Some(&variable)).output().expect("it starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(CODE), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(stderr.contains("took nothing for 1 s"), "{stderr}");
        assert!(begun.elapsed() < Duration::from_secs(60), "{policy}: {:?}", begun.elapsed());
    }
}

#[test]
fn dropped_events_are_counted_and_the_rest_can_be_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = pipe(directory.path());
    let mut reader = reader(&path);
    let variable = format!("traceallocfree=1,overflow=drop,stall=300s,out={}", path.display());
    let mut command = child("busy", Some(&variable));
    let mut program = command.stdout(Stdio::piped()).spawn().expect("it starts");
    // Before it has done more than the rings take, nothing of the trace is read.
    let said = BufReader::new(program.stdout.take().expect("a pipe"));
    assert!(said.lines().any(|line| line.expect("a line").contains(WORKED)), "it ended early");
    let mut bytes = Vec::new();
    let status = loop {
        let mut some = [0; 1 << 16];
        match reader.read(&mut some) {
            Ok(len) if len > 0 => bytes.extend(&some[..len]),
            _ => match program.try_wait().expect("it can be waited for") {
                Some(status) => break status,
                None => std::thread::sleep(Duration::from_millis(1)),
            },
        }
    };
    reader.read_to_end(&mut bytes).expect("the rest");
    assert_eq!(status.code(), Some(CODE));
    let traces = Traces::new();
    fs::write(traces.path("stall-drop.trace"), &bytes).expect("a file");
    let mut counts = [0_u64; 9];
    let (mut closing, mut dropped) = (None, 0);
    for event in Reader::new(&bytes).expect("a header") {
        match event.expect("the trace is whole").kind {
            Kind::Experimental(event) => counts[usize::from(event.id) - 128] += 1,
            Kind::Sync(sync) => {
                let data = GenerationData::parse(&sync.experimental);
                assert_eq!(data.problems, []);
                dropped += data.dropped.iter().map(|cpu| cpu.1).sum::<u64>();
                closing = data.closing.or(closing);
            }
            _ => {}
        }
    }
    let closing = closing.expect("closing counts");
    let lost: u64 = closing.kinds.iter().map(|kind| kind.2).sum();
    assert!(lost > 0, "nothing was dropped: {counts:?}");
    assert_eq!(dropped, lost, "by CPU");
    for (count, (_, happened, lost)) in counts.into_iter().zip(closing.kinds) {
        assert_eq!(happened - lost, count);
    }
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn busy() {
    churn_on_two_threads();
    println!("{WORKED}");
    std::process::exit(CODE);
}
