//! Whole programs run with the variable `SLABSCOPE`: what they write, say and return.
#![cfg(feature = "recorder")]

mod support;

use std::collections::HashMap;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use slabscope_wire::alloc_free::EndReason;
use support::{Traces, child, names, replay, succeed};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

/// What [`busy`] exits with.
const CODE: i32 = 7;

/// Runs the busy program, and expects of it what it does without a trace.
fn run_busy(variable: &str, prepare: impl FnOnce(&mut Command)) -> Output {
    let mut command = child("busy", Some(variable));
    prepare(&mut command);
    let traced = command.output().expect("it starts");
    let plain = child("busy", None).output().expect("it starts");
    assert_eq!(plain.status.code(), Some(CODE), "{}", text(&plain.stderr));
    assert_eq!(text(&plain.stderr), "");
    assert_eq!(traced.status.code(), Some(CODE), "{}", text(&traced.stderr));
    assert_eq!(text(&traced.stdout), text(&plain.stdout), "the program's own output");
    traced
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn variable_for(path: &Path) -> String {
    format!("traceallocfree=1,out={}", path.display())
}

#[test]
fn a_traced_program_does_what_it_did_and_every_event_is_in_the_file() {
    let traces = Traces::new();
    let path = traces.path("program.trace");
    let output = run_busy(&variable_for(&path), |_| {});
    assert_eq!(text(&output.stderr), "");
    let replayed = replay(&path);
    assert_eq!(replayed.lost(), 0);
    assert_eq!(replayed.reason(), Some(EndReason::Exited));
    assert!(replayed.counts[4] > 100_000, "allocations: {:?}", replayed.counts);
    assert!(replayed.threads.values().any(|name| name == "second"), "{:?}", replayed.threads);
    assert!(replayed.build["executable"].contains("program-"));
    assert!(replayed.build["command"].contains("--exact busy"));
    assert_eq!(replayed.build["options"], variable_for(&path));
    assert!(replayed.sites.values().any(|&site| site == (1 << 20, 1)), "a size that was asked for");
}

#[test]
fn without_restartable_sequences_a_trace_is_made_all_the_same() {
    let traces = Traces::new();
    let path = traces.path("program-no-rseq.trace");
    run_busy(&variable_for(&path), |command| {
        command.env("GLIBC_TUNABLES", "glibc.pthread.rseq=0");
    });
    let replayed = replay(&path);
    assert_eq!((replayed.lost(), &*replayed.build["rings"]), (0, "cas"));
}

#[test]
fn the_file_s_name_follows_its_pattern() {
    let directory = tempfile::tempdir().expect("a directory");
    let pattern = directory.path().join("%e-%p-100%%.trace");
    run_busy(&variable_for(&pattern), |_| {});
    let [name] = names(directory.path()).try_into().expect("one file");
    let program = std::env::current_exe().expect("this program");
    let program = program.file_name().expect("a name").to_string_lossy().into_owned();
    let rest = name.strip_prefix(&program).expect("the program's name");
    let pid = rest.strip_prefix('-').and_then(|rest| rest.strip_suffix("-100%.trace"));
    assert!(pid.is_some_and(|pid| pid.parse::<u32>().is_ok()), "{name}");
}

#[test]
fn without_a_name_the_file_lies_where_the_program_runs() {
    let directory = tempfile::tempdir().expect("a directory");
    run_busy("traceallocfree=1", |command| {
        command.current_dir(directory.path());
    });
    let [name] = names(directory.path()).try_into().expect("one file");
    assert!(name.starts_with("program-") && name.ends_with(".trace"), "{name}");
    replay(&directory.path().join(name));
}

#[test]
fn without_a_trace_there_is_no_file_and_without_the_variable_no_thread() {
    let directory = tempfile::tempdir().expect("a directory");
    for variable in [None, Some(""), Some("traceallocfree=0")] {
        let output = succeed(child("idle", variable).current_dir(directory.path()));
        assert_eq!(text(&output.stderr), "");
        assert_eq!(names(directory.path()), Vec::<String>::new());
    }
}

#[test]
fn an_unknown_key_costs_one_line_and_the_rest_holds() {
    let traces = Traces::new();
    let path = traces.path("program-unknown-key.trace");
    let output = run_busy(&format!("{},colour=red", variable_for(&path)), |_| {});
    let stderr = text(&output.stderr);
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.contains("\"colour=red\"") && stderr.contains("the keys are"), "{stderr}");
    replay(&path);
}

#[test]
fn a_bad_value_costs_one_line_and_the_default_holds() {
    let directory = tempfile::tempdir().expect("a directory");
    let output = run_busy("traceallocfree=yes", |command| {
        command.current_dir(directory.path());
    });
    let stderr = text(&output.stderr);
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.contains("\"traceallocfree=yes\"") && stderr.contains("0 or 1"), "{stderr}");
    assert_eq!(names(directory.path()), Vec::<String>::new());
}

#[test]
fn a_file_that_cannot_be_made_costs_one_line() {
    let directory = tempfile::tempdir().expect("a directory");
    let missing = directory.path().join("missing/x.trace");
    for (path, why) in [(missing.as_path(), "no such directory"), (directory.path(), "directory")] {
        let output = run_busy(&variable_for(path), |_| {});
        let stderr = text(&output.stderr);
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(stderr.contains(&path.display().to_string()), "{stderr}");
        assert!(stderr.contains(why) && stderr.contains("set out="), "{stderr}");
    }
}

#[test]
fn a_full_device_costs_one_line() {
    let output = run_busy("traceallocfree=1,out=/dev/full", |_| {});
    let stderr = text(&output.stderr);
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.contains("no space left"), "{stderr}");
}

#[test]
fn a_file_that_may_not_grow_ends_well_and_counts_what_it_lacks() {
    let traces = Traces::new();
    // Room for little, for parts, for one byte less than a chunk, and for ends in many a place.
    for blocks in [1, 500, 1023].into_iter().chain((520..1040).step_by(20)) {
        let path = traces.path(&format!("program-limit-{blocks}.trace"));
        let output = run_busy(&variable_for(&path), |command| {
            // SAFETY: setrlimit may be called between fork and exec.
            unsafe { command.pre_exec(move || limit_files(blocks * 1024)) };
        });
        let stderr = text(&output.stderr);
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(stderr.contains("too large"), "{stderr}");
        assert!(fs::metadata(&path).expect("a file").len() <= blocks * 1024);
        let replayed = replay(&path);
        assert_eq!(replayed.reason(), Some(EndReason::WriteFailed));
        assert!(replayed.lost() > 0);
    }
}

fn limit_files(bytes: u64) -> std::io::Result<()> {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: the limit is a value of ours.
    match unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

#[test]
fn little_address_space_is_enough_or_costs_one_line() {
    let traces = Traces::new();
    let path = traces.path("program-address-space.trace");
    for megabytes in [4096_u64, 600, 300] {
        let mut command = child("busy", Some(&variable_for(&path)));
        let limit = libc::rlimit { rlim_cur: megabytes << 20, rlim_max: megabytes << 20 };
        // SAFETY: setrlimit may be called between fork and exec.
        unsafe {
            command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_AS, &raw const limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            })
        };
        let output = command.output().expect("it starts");
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(CODE), "{megabytes} MiB: {stderr}");
        match stderr.lines().count() {
            0 => assert_eq!(replay(&path).lost(), 0),
            1 => assert!(stderr.contains("no memory for the recorder"), "{stderr}"),
            _ => panic!("{stderr}"),
        }
    }
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn busy() {
    let second = std::thread::Builder::new().name("second".into()).spawn(|| count_words(2));
    let counted = count_words(1) + second.expect("a thread").join().expect("a result");
    println!("counted {counted}");
    std::process::exit(CODE);
}

fn count_words(seed: u64) -> usize {
    let mut random = support::workers::Random(seed);
    let mut counts: HashMap<String, usize> = HashMap::new();
    for _ in 0..50_000 {
        *counts.entry(format!("word {}", random.below(5000))).or_default() += 1;
    }
    let large = vec![1_u8; 1 << 20];
    counts.len() + std::hint::black_box(large).len()
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn idle() {
    assert!(count_words(3) > 0);
    let threads = fs::read_dir("/proc/self/task").expect("threads");
    let names = threads.map(|thread| {
        let path = thread.expect("a thread").path().join("comm");
        fs::read_to_string(path).expect("a name").trim().to_owned()
    });
    let names: Vec<String> = names.collect();
    // The test's own thread, and the one that waits for it; one to follow the variable, if it is there.
    let follows = std::env::var_os("SLABSCOPE").is_some();
    assert!(names.len() <= 2 + usize::from(follows), "{names:?}");
    let ours: Vec<_> = names.iter().filter(|name| name.contains("slabscope")).collect();
    assert!(if follows { ours == ["slabscope-watch"] } else { ours.is_empty() }, "{names:?}");
    let open = fs::read_dir("/proc/self/fd").expect("files");
    let open = open.filter_map(|entry| fs::read_link(entry.expect("an entry").path()).ok());
    assert_eq!(open.filter(|path| path.to_string_lossy().contains(".trace")).count(), 0);
    assert!(!slabscope::trace::is_running());
    assert_eq!(slabscope::trace::stop(), None);
}
