//! Names of functions in tables: long ones stay known, and hostile ones harm no terminal.

#[path = "../../slabscope-analysis/tests/support/trace_builder.rs"]
mod trace_builder;

mod support;

use std::fs;

use slabscope_wire::alloc_free::EndReason;
use slabscope_wire::event::id;
use support::slabscope;
use tempfile::TempDir;
use trace_builder::{CLASS_48, TraceBuilder};

/// A trace whose two sites are in functions of this file, which is not there: so they are called by its
/// name, and by where they lie in it.
fn trace_of(file: &str) -> TempDir {
    let mut trace = TraceBuilder::new();
    trace.begin(1_000).info().build(&[("writer", "x")]);
    trace.module([0x5000, 0x6000], 0x4000, &format!("/opt/{file}"));
    trace.frames(&[(1, 0, 0x5101), (2, 0, 0x5201)]).sites_at(&[(1, 40, 1), (2, 48, 2)]);
    trace.events(
        7,
        2_000,
        &[
            (id::SPAN_ALLOC, 0, &[0, 1, CLASS_48]),
            (id::HEAP_OBJECT_ALLOC, 0, &[0, 1]),
            (id::HEAP_OBJECT_ALLOC, 0, &[6, 2]),
        ],
    );
    trace.closing(EndReason::Exited, [0; 9]).end();
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("app.trace"), &trace.bytes).unwrap();
    directory
}

fn run(directory: &TempDir, arguments: &[&str]) -> String {
    let mut command = slabscope(arguments);
    command.arg("app.trace").arg("--no-cache").current_dir(directory);
    String::from_utf8(command.assert().code(0).get_output().stdout.clone()).unwrap()
}

const ALL: [&[&str]; 8] = [
    &["sites"],
    &["sites", "--by", "function"],
    &["sites", "--by", "line"],
    &["sites", "--by", "module"],
    &["sites", "--by", "crate"],
    &["peak"],
    &["leaks"],
    &["types"],
];

#[test]
fn a_name_does_nothing_to_a_terminal() {
    let directory = trace_of("evil\u{1b}]0;title\u{7}\u{202e}");
    let mut named = 0;
    for arguments in ALL {
        let text = run(&directory, arguments);
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{arguments:?}: {text:?}");
        named += text.matches("evil\\u{1b}").count();
    }
    assert!(named > 10, "{named}");
}

#[test]
fn long_names_fit_and_are_told_in_full() {
    let name =
        format!("app::{}::insert<{}>", ["part"; 20].join("::"), ["app::Order"; 9].join(", "));
    let directory = trace_of(&name);
    for arguments in ALL {
        let text = run(&directory, arguments);
        for line in text.lines() {
            assert!(line.len() <= 80, "{arguments:?}: {line}");
        }
        let is_of_functions = matches!(
            arguments,
            ["sites"] | ["sites", "--by", "function" | "line"] | ["peak" | "leaks"]
        );
        if is_of_functions {
            let all: String = text.split_whitespace().collect();
            for place in ["+0x1100", "+0x1200"] {
                let whole = format!("{}{place}", name.replace(' ', ""));
                assert!(all.contains(&whole), "{arguments:?}: {text}");
            }
        }
    }
}

#[test]
fn sites_are_put_together() {
    let directory = trace_of("app");
    let json = |by: &str| -> serde_json::Value {
        serde_json::from_str(&run(&directory, &["sites", "--json", "--by", by])).unwrap()
    };
    let functions = json("function");
    let groups = functions["sites"]["groups"].as_array().unwrap();
    assert_eq!((functions["sites"]["by"].as_str(), groups.len()), (Some("function"), 2));
    let files = json("file");
    let all = &files["sites"]["groups"][0];
    assert_eq!((all["sites"].as_u64(), all["allocated"]["objects"].as_u64()), (Some(2), Some(2)));
    assert_eq!(all["slack_bytes"].as_u64(), Some(8), "{all}");
    let whole = json("stack");
    let slack = whole["sites"]["sites"].as_array().unwrap().iter();
    assert_eq!(slack.map(|row| row["slack_bytes"].as_u64().unwrap()).sum::<u64>(), 8);
}
