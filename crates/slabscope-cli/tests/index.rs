//! The index beside a large trace: every command says with it what it says without, and nothing that
//! stands in its place is believed. The trace is that of this very program.

mod support;

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use support::slabscope;
use tempfile::TempDir;

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

/// Some 1.3 million events of two threads, in more than three seconds: a generation takes one.
#[test]
#[ignore = "it is the program that is traced"]
fn program() {
    let worker = |seed: u64| {
        let (mut state, mut kept) = (seed, HashMap::new());
        for round in 0..64_u64 {
            for n in 0..5_000_u64 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let key = (state >> 33) % 3_000;
                kept.insert(key, black_box(vec![n as u8; (state >> 50) as usize % 700 + 1]));
                black_box(format!("{round} {n}"));
            }
            thread::sleep(Duration::from_millis(50));
        }
        kept
    };
    let other = thread::spawn(move || worker(7));
    let kept = worker(9);
    assert_eq!((kept.len(), other.join().unwrap().len()), (3_000, 3_000));
}

/// A directory with a trace in it.
struct Traced {
    _directory: TempDir,
    trace: PathBuf,
    index: PathBuf,
}

impl Traced {
    fn new() -> Traced {
        let directory = TempDir::new().unwrap();
        let trace = directory.path().join("app.trace");
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "program", "--ignored", "--test-threads=1"])
            .env("SLABSCOPE", format!("traceallocfree=1,out={}", trace.display()))
            .output()
            .unwrap();
        assert!(status.status.success(), "{status:?}");
        let index = directory.path().join("app.trace.slabscope-index");
        Traced { _directory: directory, trace, index }
    }

    fn say(&self, arguments: &[&str], more: &[&str]) -> Said {
        let output = slabscope(arguments).arg(&self.trace).args(more).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    /// What a command says, which must be what it says without an index.
    fn check(&self, arguments: &[&str]) -> Said {
        let (with, without) = (self.say(arguments, &[]), self.say(arguments, &["--no-index"]));
        assert!(with == without, "{arguments:?}\n{with:?}\n{without:?}");
        with
    }
}

type Said = (Option<i32>, String, String);

const PARTS: [&[&str]; 6] = [
    &[],
    &["--from", "1.7s"],
    &["--to", "2.3s"],
    &["--from", "400ms", "--to", "2.9s"],
    &["--from", "1.2s", "--to", "1.3s"],
    &["--from", "1h"],
];

#[test]
fn every_command_says_the_same_with_an_index() {
    let traced = Traced::new();
    let whole = traced.say(&["report"], &["--no-index"]);
    assert!(!traced.index.exists());
    assert_eq!(traced.say(&["report"], &[]), whole);
    let (trace, index) =
        [&traced.trace, &traced.index].map(|path| fs::metadata(path).unwrap()).into();
    assert!(index.len() < trace.len() / 2, "{} of {}", index.len(), trace.len());
    let mut checked = 0;
    for command in
        ["report", "peak", "leaks", "temporary", "sizes", "sites", "threads", "spans", "verify"]
    {
        // The text is made of what `--json` has.
        traced.check(&[command]);
        for part in PARTS {
            traced.check(&[&[command, "--json"], part].concat());
            checked += 1;
        }
    }
    traced.check(&["spans", "--below", "70"]);
    traced.check(&["temporary", "--within", "3"]);
    traced.check(&["flamegraph", "--weight", "peak"]);
    traced.check(&["export", "--format", "collapsed", "--from", "1s"]);
    assert_eq!(checked, 9 * 6);
    dumps_begin_where_the_index_tells(&traced);
    records_are_those_of_whole_generations(&traced);
    objects_are_told_with_their_sites(&traced);

    answers_come_from_the_index(&traced);
    what_is_no_index_is_not_believed(&traced);
}

/// A part of a dump is a part of the whole one, and what lies long before it is not read.
fn dumps_begin_where_the_index_tells(traced: &Traced) {
    let (_, whole, _) = traced.check(&["dump"]);
    let time = |line: &str| {
        let (_, rest) = line.split_once(" Time=").unwrap();
        rest.split(' ').next().unwrap().parse::<i64>().unwrap()
    };
    let times: Vec<_> = whole.lines().map(time).collect();
    let at = |hundredths: usize| times[times.len() * hundredths / 100];
    for (from, to) in [(at(0), at(2)), (at(55), at(60)), (at(93), at(95))] {
        let [from_text, to_text] = [from, to].map(|time| format!("{}ns", time - times[0]));
        let part = ["dump", "--from", &from_text, "--to", &to_text];
        let (code, said, _) = traced.check(&part);
        let wanted: Vec<_> =
            whole.lines().filter(|line| (from..to).contains(&time(line))).collect();
        let found: Vec<_> = said.lines().collect();
        assert!(code == Some(0) && !found.is_empty() && found == wanted, "{from_text}");
        let (_, rows, _) = traced.check(&[&part[..], &["--json"]].concat());
        assert_eq!(rows.lines().count(), found.len() + 2, "head and account");
    }
    for kind in [&["dump"][..], &["dump", "--wire"]] {
        let (code, said, error) = traced.check(&[kind, &["--from", "1h"]].concat());
        assert!(code == Some(2) && said.is_empty() && error.contains("the trace ends"), "{error}");
    }
    assert_eq!(traced.check(&["dump", "--to", "1h"]).1, whole);
}

/// The records of a part are those of whole generations, one after the other as in the file.
fn records_are_those_of_whole_generations(traced: &Traced) {
    let (_, whole, _) = traced.check(&["dump", "--wire"]);
    let (_, all, _) = traced.check(&["dump", "--wire", "--to", "1h"]);
    assert_eq!(all, whole);
    let frees = |text: &str| text.lines().filter(|line| line.contains("HeapObjectFree ")).count();
    for part in [&["--to", "60ms"][..], &["--from", "1.7s", "--to", "1.8s"], &["--from", "2.9s"]] {
        let (code, records, _) = traced.check(&[&["dump", "--wire"], part].concat());
        let (_, events, _) = traced.check(&[&["dump"], part].concat());
        let freed = events.matches("Name=HeapObjectFree ").count();
        assert!(code == Some(0) && freed > 0 && frees(&records) >= freed, "{part:?}");
        assert!(records.len() < whole.len() && whole.contains(&records), "{part:?}");
        assert!(
            records.starts_with("EventBatch "),
            "{part:?}: {}",
            records.lines().next().unwrap()
        );
    }
}

/// The sites of a part's objects are told before them, whenever these were allocated.
fn objects_are_told_with_their_sites(traced: &Traced) {
    let export = ["export", "--format", "jsonl"];
    for (from, to) in [("0s", "60ms"), ("1.7s", "1.8s"), ("2.9s", "3s")] {
        let (code, part, _) = traced.check(&[&export[..], &["--from", from, "--to", to]].concat());
        let (mut told, mut earlier) = (HashSet::new(), 0);
        for row in part.lines() {
            let row: serde_json::Value = serde_json::from_str(row).unwrap();
            let site = row["site"].as_u64().unwrap();
            if row["event"] == "site" {
                assert!(told.insert(site), "{site} was told twice");
                continue;
            }
            assert!(site == 0 || told.contains(&site), "{row}");
            let lifetime = row["lifetime_ns"].as_i64();
            earlier += u64::from(lifetime.is_some_and(|ns| ns > 100_000_000));
        }
        assert!(code == Some(0) && !told.is_empty(), "{from}");
        assert_eq!(earlier > 0, from != "0s");
    }
}

/// With the middle of the trace gone, what does not need it is answered all the same.
fn answers_come_from_the_index(traced: &Traced) {
    let before = traced.say(&["leaks"], &[]);
    let late = traced.say(&["peak", "--from", "3s"], &[]);
    let dump = traced.say(&["dump", "--from", "3s"], &[]);
    let objects = traced.say(&["export", "--format", "jsonl", "--from", "3s"], &[]);
    let modified = fs::metadata(&traced.trace).unwrap().modified().unwrap();
    let whole = fs::read(&traced.trace).unwrap();
    let file = File::options().write(true).open(&traced.trace).unwrap();
    // As long as a batch can be, so that more than what leaks does not ask for is hit.
    file.write_all_at(&[0xee; 64 << 10], 100_000).unwrap();
    file.set_modified(modified).unwrap();
    assert_eq!(traced.say(&["leaks"], &[]), before);
    assert_eq!(traced.say(&["peak", "--from", "3s"], &[]), late);
    assert_eq!(traced.say(&["dump", "--from", "3s"], &[]), dump);
    assert_eq!(traced.say(&["export", "--format", "jsonl", "--from", "3s"], &[]), objects);
    assert_ne!(traced.say(&["leaks"], &["--no-index"]), before);
    fs::write(&traced.trace, whole).unwrap();
    file.set_modified(modified).unwrap();
    assert_eq!(traced.check(&["leaks"]), before);
}

fn what_is_no_index_is_not_believed(traced: &Traced) {
    let index = fs::read(&traced.index).unwrap();
    let broken = |change: fn(&mut Vec<u8>)| {
        let mut bytes = index.clone();
        change(&mut bytes);
        bytes
    };
    let files = [
        broken(|bytes| bytes[20] ^= 1),
        broken(|bytes| bytes.iter_mut().skip(36).step_by(97).for_each(|byte| *byte ^= 0x10)),
        broken(|bytes| bytes.truncate(bytes.len() / 2)),
        broken(Vec::clear),
        b"something else".to_vec(),
    ];
    for file in files {
        for arguments in [&["peak"][..], &["leaks", "--from", "2s"]] {
            fs::write(&traced.index, &file).unwrap();
            traced.check(arguments);
        }
        traced.say(&["report"], &[]);
        assert_eq!(fs::read(&traced.index).unwrap(), index, "it was not made anew");
    }
    // The trace changes: the index is about another one.
    let longer = [&fs::read(&traced.trace).unwrap()[..], &[0]].concat();
    fs::write(&traced.trace, longer).unwrap();
    traced.check(&["report", "--from", "1s"]);
    traced.check(&["report"]);
    assert_ne!(fs::read(&traced.index).unwrap(), index);
    // Where nothing can be written, nothing is.
    fs::remove_file(&traced.index).unwrap();
    fs::create_dir_all(traced.index.join("taken")).unwrap();
    traced.check(&["report"]);
    let directory = traced.trace.parent().unwrap();
    assert_eq!(names(directory), ["app.trace", "app.trace.slabscope-index"]);
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
