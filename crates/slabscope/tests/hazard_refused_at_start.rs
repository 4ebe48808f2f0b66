//! Memory is refused when a trace begins. What the recorder needs it has before the program goes on, so
//! whoever may begin a trace has a whole one, however little is left.
#![cfg(feature = "recorder")]

mod support;

use std::fs;
use std::path::PathBuf;

use slabscope::trace::{self, StartError};
use slabscope_wire::alloc_free::EndReason;
use support::{Traces, child, replay, succeed};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

/// How much more a trace may have than the one before, in bytes: first until one may begin, and then once
/// more up to there.
const STEPS: [u64; 2] = [4 << 20, 256 << 10];

/// Traces that begin: all together have some MiB to spare.
const ENOUGH: u32 = 24;

#[test]
fn who_may_begin_a_trace_has_a_whole_one() {
    for resource in ["AS", "DATA"] {
        for options in ["rings=auto", "rings=cas", "stacks=16", "compress=zstd"] {
            if options == "compress=zstd" && !cfg!(feature = "zstd") {
                continue;
            }
            let traces = Traces::new();
            let out = traces.path(&format!("refused-{resource}-{options}"));
            fs::create_dir_all(&out).expect("a directory");
            let mut command = child("begins_in_little_memory", Some(options));
            let output = succeed(command.env("OUT", &out).env("RESOURCE", resource));
            let stderr = String::from_utf8_lossy(&output.stderr);
            // Stacks can be left out, which it says; a trace that has begun is not given up.
            let is_fine =
                |line: &str| line.contains("call stacks cannot be taken") && options == "stacks=16";
            assert!(stderr.lines().all(is_fine), "{resource} {options}: {stderr}");
            for trace in fs::read_dir(&out).expect("a directory") {
                let trace = trace.expect("an entry").path();
                // Its reader is for traces as they are; what happened is in the summary.
                if options == "compress=zstd" || fs::metadata(&trace).expect("a file").len() == 0 {
                    continue;
                }
                let replayed = replay(&trace);
                assert_eq!((replayed.lost(), replayed.reason()), (0, Some(EndReason::Stopped)));
            }
        }
    }
}

/// What the process has of a resource now, in bytes.
fn used(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("a list");
    let line = status.lines().find_map(|line| line.strip_prefix(key)).expect("the key");
    line.trim_matches(|c: char| !c.is_ascii_digit()).parse::<u64>().expect("KiB") << 10
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn begins_in_little_memory() {
    let out = PathBuf::from(std::env::var_os("OUT").expect("the parent says where"));
    let (resource, key) = match std::env::var("RESOURCE").as_deref() {
        Ok("AS") => (libc::RLIMIT_AS, "VmSize:"),
        _ => (libc::RLIMIT_DATA, "VmData:"),
    };
    let limit_to = |bytes| {
        let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: it is a limit.
        assert_eq!(unsafe { libc::setrlimit(resource, &raw const limit) }, 0);
    };
    // The heap has what it needs from then on.
    drop((0..1000).map(|n| n.to_string()).collect::<Vec<_>>());
    let [coarse, fine] = STEPS;
    let (mut more, mut step, mut begun, mut refused) = (0, coarse, 0, 0);
    while begun < ENOUGH {
        let path = out.join(format!("{begun}.trace"));
        limit_to(used(key) + more);
        let started = trace::start_to(&path);
        if started.is_ok() {
            let strings: Vec<String> = (0..100).map(|n| n.to_string()).collect();
            drop(std::hint::black_box(strings));
        }
        let summary = trace::stop();
        limit_to(libc::RLIM_INFINITY);
        match (started, summary) {
            (Ok(()), Some(summary)) => {
                assert!(summary.events > 200, "{summary:?}");
                assert_eq!((summary.lost, summary.failure), (0, None), "{more}");
                begun += 1;
                if step == coarse {
                    (more, step) = (more.saturating_sub(coarse), fine);
                }
            }
            (Err(StartError::Memory | StartError::Thread(_)), None) => refused += 1,
            other => panic!("{other:?}"),
        }
        more += step;
    }
    assert!(refused > 2, "{refused} were refused");
}
