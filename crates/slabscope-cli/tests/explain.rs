//! The commands that answer one question each, on a real trace of Go and on one made by hand.

#[path = "../../slabscope-analysis/tests/support/trace_builder.rs"]
mod trace_builder;

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use slabscope_wire::alloc_free::{EndReason, data};
use slabscope_wire::event::id;
use support::slabscope;
use tempfile::TempDir;
use trace_builder::{TraceBuilder, sound};

const COMMANDS: [&str; 8] =
    ["peak", "leaks", "temporary", "sizes", "sites", "types", "threads", "spans"];

fn go_trace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../slabscope-trace/tests/data/go1.27-allocfree-small.trace")
}

/// A directory with a trace in it.
fn directory_with(trace: &TraceBuilder) -> TempDir {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("app.trace"), &trace.bytes).unwrap();
    directory
}

fn closed() -> TraceBuilder {
    let mut trace = sound();
    trace.closing(EndReason::Exited, [0; 9]).end();
    trace
}

/// Standard output of a command that ends with this code, run in `directory`.
fn run(directory: &Path, arguments: &[&str], code: i32) -> String {
    let mut command = slabscope(arguments);
    let output = command.current_dir(directory).assert().code(code).get_output().clone();
    String::from_utf8(output.stdout).unwrap()
}

/// To make it anew after a change that is meant: what the test says is on the left, into the file
/// named here.
#[test]
fn the_answers_for_a_sound_trace_are_these() {
    let directory = directory_with(&closed());
    let mut answers = String::new();
    for command in COMMANDS {
        answers += &run(directory.path(), &[command, "app.trace"], 0);
        answers += "\n";
    }
    answers += &run(directory.path(), &["diff", "app.trace", "app.trace", "--to", "2ms"], 0);
    assert_eq!(answers, include_str!("data/sound.answers"));
    assert!(!answers.contains('\u{1b}'), "a name reached the terminal");
}

#[test]
fn answers_for_a_real_trace_fit_a_terminal_and_have_json() {
    let path = go_trace();
    let (directory, name) = (path.parent().unwrap(), path.file_name().unwrap().to_str().unwrap());
    for command in COMMANDS {
        let mut lines = 0;
        for more in [&[][..], &["--all"], &["--from", "2ms", "--to", "5ms"]] {
            let arguments = [&[command, name], more].concat();
            let text = run(directory, &arguments, 0);
            for line in text.lines() {
                assert!(line.chars().count() <= 80 && line.is_ascii(), "{command}: {line}");
                assert!(line.trim_end() == line, "{command}: {line:?}");
            }
            lines += text.lines().count();
        }
        assert!(lines > 20, "{command}");
        let json = run(directory, &[command, name, "--json"], 0);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!((&json["version"], &json["file"]), (&1.into(), &name.into()));
        assert_eq!(json[command]["part"]["has_after"], false, "{command}");
    }
}

#[test]
fn json_and_report_have_the_same_figures() {
    let path = go_trace();
    let directory = path.parent().unwrap();
    let json = |command: &str| -> serde_json::Value {
        let name = path.file_name().unwrap().to_str().unwrap();
        serde_json::from_str(&run(directory, &[command, name, "--json"], 0)).unwrap()
    };
    let objects = json("report")["report"]["objects"].clone();
    assert_eq!(json("peak")["peak"]["peak"], objects["peak"]);
    assert_eq!(json("leaks")["leaks"]["live"], objects["live"]);
    let sum = |rows: &serde_json::Value, field: &str| -> u64 {
        rows.as_array().unwrap().iter().map(|row| row[field]["bytes"].as_u64().unwrap()).sum()
    };
    let sites = &json("sites")["sites"]["sites"];
    assert_eq!(sum(sites, "allocated"), objects["allocated"]["bytes"].as_u64().unwrap());
    assert_eq!(sum(sites, "at_peak"), objects["peak"]["bytes"].as_u64().unwrap());
    let pairs = &json("threads")["threads"]["pairs"];
    assert_eq!(sum(pairs, "freed"), objects["freed"]["bytes"].as_u64().unwrap());
    let spans = &json("spans")["spans"];
    let kinds = json("report")["report"]["spans"]["kinds"].clone();
    let of_kind = |kind: &str| {
        let rows = kinds.as_array().unwrap().iter();
        rows.filter(|row| row["kind"] == kind)
            .map(|row| row["pages"].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(spans["pages"].as_u64().unwrap(), of_kind("small") + of_kind("large"));
}

#[test]
fn a_part_has_its_own_figures() {
    let directory = directory_with(&closed());
    let report = |arguments: &[&str]| {
        let arguments = [&["report", "app.trace", "--json"], arguments].concat();
        let json: serde_json::Value =
            serde_json::from_str(&run(directory.path(), &arguments, 0)).unwrap();
        json["report"].clone()
    };
    let whole = report(&[]);
    assert_eq!(whole["part"]["has_before"], false);
    // Two threads: the second one begins a millisecond after the start, the last events come
    // after a second.
    let late = report(&["--from", "500ms"]);
    assert_eq!(late["objects"]["existed"]["objects"], 3);
    assert_eq!(late["objects"]["allocated"]["objects"], 1);
    assert_eq!(late["objects"]["live"], whole["objects"]["live"]);
    assert_eq!(late["completeness"]["state"], "complete");
    let early = report(&["--to", "900us"]);
    assert_eq!(early["objects"]["live"]["objects"], 3);
    assert_eq!(early["completeness"]["state"], "not_read");
    assert_eq!(early["part"]["has_after"], true);
    let day = report(&["--from", "1970-01-12T13:46:40.5Z"]);
    assert_eq!(day["objects"], late["objects"]);
    let text = run(directory.path(), &["report", "app.trace", "--to", "900us"], 0);
    assert!(text.contains("  part      +0.000 s to +0.001 s\n"), "{text}");
    assert!(text.contains("what comes after the part was not read"), "{text}");
}

#[test]
fn a_part_that_cannot_be_is_told() {
    let directory = directory_with(&closed());
    let refused = |arguments: &[&str], part: &str| {
        for command in ["report", "peak", "spans"] {
            let arguments = [&[command, "app.trace"], arguments].concat();
            let mut command = slabscope(&arguments);
            let output = command
                .current_dir(directory.path())
                .assert()
                .code(2)
                .stdout("")
                .get_output()
                .clone();
            let message = String::from_utf8(output.stderr).unwrap();
            assert!(message.contains(part), "{message}");
        }
    };
    refused(&["--from", "9s"], "the trace ends 1.001 s after its start. Choose an earlier --from.");
    refused(&["--from", "2s", "--to", "1s"], "--from is not before --to");
    refused(&["--from", "soon"], "1.5s");
    refused(&["--from", "2100-01-01T00:00:00Z"], "Choose an earlier --from");
}

#[test]
fn trouble_with_a_trace_is_told_beside_the_answer() {
    let mut torn = sound();
    torn.bytes.truncate(torn.bytes.len() - 20);
    let directory = directory_with(&torn);
    for command in COMMANDS {
        let mut command = slabscope(&[command, "app.trace"]);
        let output = command.current_dir(directory.path()).assert().code(1).get_output().clone();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.starts_with("slabscope: app.trace: offset "), "{message}");
        assert!(!output.stdout.is_empty());
    }
    let mut odd = TraceBuilder::new();
    odd.begin(1_000).build(&[("writer", "x")]);
    odd.events(7, 2_000, &[(id::HEAP_OBJECT_FREE, 0, &[6]), (id::HEAP_OBJECT_ALLOC, 0, &[6, 0])]);
    odd.closing(EndReason::Exited, [0; 9]).end();
    fs::write(directory.path().join("app.trace"), &odd.bytes).unwrap();
    let mut command = slabscope(&["sites", "app.trace"]);
    let output = command.current_dir(directory.path()).assert().code(0).get_output().clone();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("2 events contradict those before them"), "{message}");
}

#[test]
fn answers_from_a_trace_that_lacks_something_say_so() {
    let mut lost = sound();
    lost.closing(EndReason::Exited, [0, 0, 0, 0, 2_000, 0, 0, 0, 0]).end();
    let mut miscounted = sound();
    let mut happened = miscounted.counts;
    happened[4] += 1;
    miscounted.closing_of(EndReason::Exited, happened, [0; 9]).end();
    let mut damaged = sound();
    damaged.side(data::INFO, &[0xee; 9]).closing(EndReason::Exited, [0; 9]).end();
    let cases = [
        (lost, "2,000 events were lost while it was recorded"),
        (miscounted, "it has more or fewer events than its closing counts say"),
        (damaged, "1 piece of its side data cannot be used"),
        (closed(), ""),
    ];
    for (trace, wanted) in cases {
        let directory = directory_with(&trace);
        for command in COMMANDS.into_iter().chain(["flamegraph"]) {
            let mut command = slabscope(&[command, "app.trace"]);
            let output =
                command.current_dir(directory.path()).assert().code(0).get_output().clone();
            let message = String::from_utf8(output.stderr).unwrap();
            assert!(message.contains(wanted), "{command:?}: {message}");
            assert_eq!(message.is_empty(), wanted.is_empty(), "{command:?}: {message}");
        }
    }
}

#[test]
fn a_trace_without_objects_says_why() {
    let mut trace = TraceBuilder::new();
    trace.begin(1_000).end();
    let directory = directory_with(&trace);
    for command in COMMANDS {
        let text = run(directory.path(), &[command, "app.trace"], 0);
        assert!(text.contains("GODEBUG=traceallocfree=1"), "{command}: {text}");
    }
}

#[test]
fn options_change_what_counts() {
    let directory = directory_with(&closed());
    let figure = |arguments: &[&str], path: &str| {
        let arguments = [arguments, &["app.trace", "--json"]].concat();
        let json: serde_json::Value =
            serde_json::from_str(&run(directory.path(), &arguments, 0)).unwrap();
        json.pointer(path).and_then(serde_json::Value::as_u64).unwrap()
    };
    let temporary = "/temporary/total/temporary/objects";
    assert_eq!(figure(&["temporary", "--within", "2s"], temporary), 0);
    let pinned = "/spans/nearly_empty/spans";
    assert_eq!(figure(&["spans"], pinned), 1);
    assert_eq!(figure(&["spans", "--below", "1"], pinned), 0);
    for wrong in [&["temporary", "--within", "x"][..], &["spans", "--below", "0"]] {
        slabscope(wrong).current_dir(directory.path()).arg("app.trace").assert().code(2);
    }
}
