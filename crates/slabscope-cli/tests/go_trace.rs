//! A real trace that Go wrote: its whole report, and what is left of it when it is cut.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use predicates::prelude::*;
use support::slabscope;
use tempfile::TempDir;

fn go_trace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../slabscope-trace/tests/data/go1.27-allocfree-small.trace")
}

/// Run where the file lies, so that the report names it as here.
fn in_its_directory(arguments: &[&str]) -> assert_cmd::Command {
    let path = go_trace();
    let mut command = slabscope(arguments);
    command.current_dir(path.parent().unwrap()).arg(path.file_name().unwrap());
    command
}

/// To make it anew after a change that is meant: `slabscope report --all` in the directory of the
/// trace, into the file named here.
#[test]
fn its_report_is_this() {
    let expected = include_str!("data/go1.27-allocfree-small.report");
    in_its_directory(&["report", "--all"]).assert().code(0).stdout(expected).stderr("");
    for line in expected.lines() {
        assert!(line.len() <= 80 && line.is_ascii(), "{line}");
    }
}

#[test]
fn long_tables_are_cut_unless_asked_for() {
    let whole = include_str!("data/go1.27-allocfree-small.report");
    let output = in_its_directory(&["report"]).assert().code(0).get_output().clone();
    let short = String::from_utf8(output.stdout).unwrap();
    assert!(short.contains("size classes with fewer bytes; --all shows them"), "{short}");
    assert!(short.lines().count() < whole.lines().count());
}

#[test]
fn it_is_sound() {
    in_its_directory(&["verify"])
        .assert()
        .code(0)
        .stderr("")
        .stdout(predicate::str::contains("sound. 46,002 heap events checked."))
        .stdout(predicate::str::contains("Go's traces carry no counts"));
}

#[test]
fn its_json_has_the_same_figures() {
    let output = in_its_directory(&["report", "--json"]).assert().code(0).get_output().clone();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["version"], 1);
    assert_eq!(json["file"], "go1.27-allocfree-small.trace");
    let report = &json["report"];
    let events: u64 = report["events"]["heap"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["count"].as_u64().unwrap())
        .sum();
    assert_eq!(events, 46_002);
    let objects = |what: &str| report["objects"][what]["objects"].as_u64().unwrap();
    assert_eq!(objects("existed") + objects("allocated") - objects("freed"), objects("live"));
    assert_eq!(report["completeness"]["state"], "no_counts");
    assert_eq!(report["tracing"]["origin"], "go");

    let output = in_its_directory(&["verify", "--json"]).assert().code(0).get_output().clone();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["version"], &json["verify"]["is_sound"]), (&1.into(), &true.into()));
}

#[test]
fn dumps_have_every_event() {
    let lines = |arguments: &[&str], part: &str| {
        let output = in_its_directory(arguments).assert().code(0).stderr("").get_output().clone();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().filter(|line| line.contains(part)).count()
    };
    assert_eq!(lines(&["dump"], " Experimental "), 46_002);
    assert_eq!(lines(&["dump"], "Name=HeapObjectFree "), 20_424);
    assert_eq!(lines(&["dump", "--wire"], "HeapObjectFree"), 20_424);
}

#[test]
fn a_dump_as_json_has_every_event_with_all_it_says() {
    let output = in_its_directory(&["dump", "--json"]).assert().code(0).stderr("");
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    let mut rows = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let head: serde_json::Value = rows.next().unwrap();
    let expected = serde_json::json!({ "version": 1, "file": "go1.27-allocfree-small.trace" });
    assert_eq!(head, expected);
    let mut rows: Vec<serde_json::Value> = rows.collect();
    let account = rows.pop().unwrap();
    assert_eq!(account["completeness"]["state"], "no_counts");
    let output = in_its_directory(&["dump"]).assert().get_output().clone();
    let dump = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<_> = dump.lines().filter(|line| line.starts_with("M=")).collect();
    assert_eq!(rows.len(), lines.len());
    let mut kinds = std::collections::BTreeSet::new();
    for (row, line) in rows.iter().zip(lines) {
        let kind = row["kind"].as_str().unwrap();
        kinds.insert(kind);
        let number = |key: &str| row[key].as_i64().unwrap_or(-1);
        let head = format!(
            "M={} P={} G={} {kind} Time={}",
            number("thread"),
            number("proc"),
            number("goroutine"),
            row["time"]
        );
        assert!(line.starts_with(&head), "{row}\n{line}");
        // Arguments, metrics and states are words of Go's line.
        let words = |text: &serde_json::Value| line.contains(text.as_str().unwrap());
        match kind {
            "Experimental" => {
                let args = row["args"].as_object().unwrap();
                assert!(words(&row["name"]) && args.len() == line.matches("Value{").count());
                for (name, value) in args {
                    assert!(line.contains(&format!("{name}=Value{{Uint64({value})}}")), "{line}");
                }
            }
            "StateTransition" => assert!(words(&row["from"]) && words(&row["to"]), "{row}"),
            "Metric" => assert!(line.contains(&row["value"].to_string()), "{row}"),
            "RangeBegin" | "RangeEnd" => assert!(words(&row["name"]) && words(&row["scope"])),
            _ => {}
        }
    }
    assert!(kinds.len() >= 6, "{kinds:?}");
    let frames = rows.iter().filter_map(|row| row["stack"].as_array()).flatten();
    assert_eq!(frames.count(), dump.matches(" @ 0x").count() - transition_frames(&rows));
}

fn transition_frames(rows: &[serde_json::Value]) -> usize {
    rows.iter().filter_map(|row| row["transition_stack"].as_array()).flatten().count()
}

#[test]
fn a_reader_that_has_enough_is_no_failure() {
    for command in ["report", "dump", "verify"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_slabscope"))
            .arg(command)
            .arg(go_trace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{command}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{command}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    for command in ["report", "dump", "verify"] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_slabscope"))
            .arg(command)
            .arg(go_trace())
            .stdout(full)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{command}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.starts_with("slabscope: standard output: "), "{message}");
    }
}

#[test]
fn cut_anywhere_it_is_broken_and_says_where() {
    let whole = fs::read(go_trace()).unwrap();
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("cut.trace");
    let mut cuts: Vec<usize> = (0..24).collect();
    cuts.extend((1..30).map(|n| whole.len() * n / 30));
    cuts.extend((1..4).map(|n| whole.len() - n));
    for cut in cuts {
        fs::write(&path, &whole[..cut]).unwrap();
        for command in ["report", "verify", "dump"] {
            let output = slabscope(&[command]).arg(&path).output().unwrap();
            let (out, err) = (
                String::from_utf8_lossy(&output.stdout).into_owned(),
                String::from_utf8_lossy(&output.stderr).into_owned(),
            );
            // A header and nothing more is what Go calls a whole trace.
            let code = match (cut, command) {
                (0..16, _) => 2,
                (16, "dump") => 0,
                _ => 1,
            };
            assert_eq!(output.status.code(), Some(code), "{command} at {cut}: {out}{err}");
            let is_said = |text: &str| text.contains("offset ") || text.contains("empty");
            assert!(code == 0 || is_said(&out) || is_said(&err), "{command} at {cut}: {out}{err}");
            assert!(!err.contains("panicked"), "{command} at {cut}: {err}");
        }
    }
}

#[test]
fn damaged_anywhere_it_never_crashes() {
    let whole = fs::read(go_trace()).unwrap();
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("damaged.trace");
    for n in 0..40_usize {
        let mut damaged = whole.clone();
        let at = 16 + (n * 6_700_417) % (whole.len() - 16);
        damaged[at] ^= 1 << (n % 8);
        fs::write(&path, &damaged).unwrap();
        for command in ["report", "verify"] {
            let output = slabscope(&[command]).arg(&path).output().unwrap();
            assert!(matches!(output.status.code(), Some(0 | 1)), "{command} with {at}");
            assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
        }
    }
}
