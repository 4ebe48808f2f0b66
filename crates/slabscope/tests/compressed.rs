//! Traces that are compressed as they are written: with `--features zstd`.
#![cfg(feature = "recorder")]

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;

use slabscope_wire::alloc_free::EndReason;
use support::workers::{Random, Workers};
use support::{Replayed, child, names, replay_bytes, succeed};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

/// The frames of a file, up to the first that is cut off: the trace, and how many there are.
fn unpack(path: &Path) -> (Vec<u8>, u64) {
    let file = fs::read(path).expect("a trace");
    let (mut rest, mut trace, mut frames) = (&file[..], Vec::new(), 0);
    while !rest.is_empty() {
        let before = trace.len();
        let frame = ruzstd::decoding::StreamingDecoder::new(&mut rest);
        if frame.is_err() || frame.is_ok_and(|mut frame| frame.read_to_end(&mut trace).is_err()) {
            trace.truncate(before);
            break;
        }
        frames += 1;
    }
    (trace, frames)
}

/// What a program says that has allocated a lot, and goes on.
const WORKING: &str = "it is at work";

fn variable(path: &Path) -> String {
    format!("traceallocfree=1,compress=zstd,out={}", path.display())
}

fn check(replayed: &Replayed, reason: EndReason) {
    assert_eq!((replayed.lost(), replayed.reason()), (0, Some(reason)));
    assert!(replayed.counts[4] > 1000, "{:?}", replayed.counts);
}

#[test]
fn a_compressed_trace_is_whole_and_much_shorter() {
    let directory = tempfile::tempdir().expect("a directory");
    let output = succeed(&mut child("busy", Some(&variable(&directory.path().join("x.trace")))));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(names(directory.path()), ["x.trace.zst"]);
    let path = directory.path().join("x.trace.zst");
    let (trace, frames) = unpack(&path);
    check(&replay_bytes(&path, &trace), EndReason::Exited);
    let len = fs::metadata(&path).expect("a file").len();
    assert!(frames > 3 && len * 3 < trace.len() as u64 * 2, "{frames} frames, {len} bytes");
}

#[test]
fn a_killed_program_s_compressed_trace_can_be_finished() {
    for wait in [1, 5, 40, 300] {
        let directory = tempfile::tempdir().expect("a directory");
        let mut program = child("endless", Some(&variable(&directory.path().join("x.trace"))))
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("it starts");
        let said = BufReader::new(program.stdout.take().expect("a pipe"));
        assert!(said.lines().any(|line| line.expect("a line").contains(WORKING)), "it ended early");
        std::thread::sleep(std::time::Duration::from_millis(wait));
        program.kill().expect("it can be killed");
        assert_eq!(program.wait().expect("it ends").signal(), Some(libc::SIGKILL));
        let path = directory.path().join("x.trace.zst");
        let (mut trace, _) = unpack(&path);
        let live = fs::read(directory.path().join("x.trace.zst.live")).expect("a live file");
        let needed = slabscope_recover::needed_len(&live).expect("a live file");
        let live = &live[..usize::try_from(needed).expect("a length")];
        let recovered = slabscope_recover::recover(trace.len() as u64, live);
        let recovered = recovered.expect("it can be recovered").expect("it did not end well");
        trace.truncate(recovered.keep);
        trace.extend(&recovered.tail);
        check(&replay_bytes(&path, &trace), EndReason::Killed);
    }
}

#[test]
fn a_compressed_file_that_may_not_grow_ends_well() {
    for kilobytes in [1_u64, 500, 1023, 3000] {
        let directory = tempfile::tempdir().expect("a directory");
        let mut command = child("busy", Some(&variable(&directory.path().join("x.trace"))));
        let limit = libc::rlimit { rlim_cur: kilobytes << 10, rlim_max: kilobytes << 10 };
        // SAFETY: setrlimit may be called between fork and exec.
        unsafe {
            command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            })
        };
        let output = succeed(&mut command);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.lines().count() == 1 && stderr.contains("too large"), "{stderr}");
        let path = directory.path().join("x.trace.zst");
        let replayed = replay_bytes(&path, &unpack(&path).0);
        assert_eq!(replayed.reason(), Some(EndReason::WriteFailed));
        assert!(replayed.lost() > 0);
    }
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn busy() {
    let mut random = Random(3);
    let mut kept: Vec<Vec<u8>> = Vec::new();
    for _ in 0..1_000_000 {
        kept.push(vec![1; 1 + random.below(200) as usize]);
        if kept.len() > 1000 {
            kept.swap_remove(random.below(1000) as usize);
        }
    }
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn endless() {
    let _workers = Workers::start(3);
    busy();
    println!("{WORKING}");
    loop {
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
}
