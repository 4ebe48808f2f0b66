//! Traces as slabscope writes them, made record by record.

#[path = "../../slabscope-analysis/tests/support/trace_builder.rs"]
mod trace_builder;

mod support;

use std::fs;
use std::path::PathBuf;

use slabscope_wire::alloc_free::EndReason;
use slabscope_wire::event::id;
use support::slabscope;
use tempfile::TempDir;
use trace_builder::{CLASS_48, LARGE, OTHER, TimedEvent, TraceBuilder, sound};

/// A trace in a file.
struct File {
    _directory: TempDir,
    path: PathBuf,
}

impl File {
    fn new(trace: &TraceBuilder) -> File {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("app.12.trace");
        fs::write(&path, &trace.bytes).unwrap();
        File { _directory: directory, path }
    }

    /// Standard output and standard error of a command that ends with this code.
    fn run(&self, arguments: &[&str], code: i32) -> (String, String) {
        let mut command = slabscope(arguments);
        command.current_dir(self.path.parent().unwrap()).arg("app.12.trace");
        let output = command.assert().code(code).get_output().clone();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr))
    }
}

#[test]
fn a_sound_trace_has_this_report() {
    let mut trace = sound();
    trace.closing(EndReason::Exited, [0; 9]).end();
    let file = File::new(&trace);
    let (report, errors) = file.run(&["report"], 0);
    assert_eq!(report, include_str!("data/sound.report"));
    assert_eq!(errors, "");
    assert!(!report.contains('\u{1b}'), "a name reached the terminal");
    let (verified, _) = file.run(&["verify"], 0);
    assert_eq!(
        verified,
        "app.12.trace: sound. 16 heap events checked.\n\
         Every event that happened is in the file, as its closing counts say.\n"
    );
}

#[test]
fn lost_events_are_told_by_kind() {
    let mut trace = sound();
    trace.closing(EndReason::WriteFailed, [0, 0, 0, 0, 2_000, 0, 0, 0, 0]).end();
    let file = File::new(&trace);
    let (report, _) = file.run(&["report"], 0);
    for line in [
        "  ended     the file could take no more",
        "  complete  NO: 2,000 events are lost, see below",
        "                   happened   lost  in the file",
        "  HeapObjectAlloc     2,004  2,000            4",
    ] {
        assert!(report.lines().any(|found| found == line), "no {line:?} in\n{report}");
    }
    let (verified, _) = file.run(&["verify"], 1);
    assert_eq!(
        verified,
        "app.12.trace: NOT sound, 2 findings. 16 heap events checked.\n  \
         tracing ended because the file could take no more\n  \
         HeapObjectAlloc: 2,000 of 2,004 that happened are lost\n"
    );
}

#[test]
fn counts_that_do_not_add_up_are_a_finding() {
    let mut trace = sound();
    let mut happened = trace.counts;
    happened[4] += 1;
    trace.closing_of(EndReason::Stopped, happened, [0; 9]).end();
    let file = File::new(&trace);
    let (verified, _) = file.run(&["verify"], 1);
    assert!(
        verified.contains("  HeapObjectAlloc: 4 in the file, but 5 happened and 0 are lost\n"),
        "{verified}"
    );
    assert!(file.run(&["report"], 0).0.contains("NO: the file is not what its counts say"));
}

#[test]
fn a_trace_without_its_end_says_so() {
    let mut trace = sound();
    trace.end();
    let file = File::new(&trace);
    let (report, errors) = file.run(&["report"], 1);
    assert!(report.contains("NO: cut off after 16 heap events"), "{report}");
    assert!(errors.starts_with("slabscope: app.12.trace: it has no closing counts"), "{errors}");
    assert!(file.run(&["verify"], 1).0.contains("no closing counts: the trace was cut off"));
}

#[test]
fn a_torn_trace_keeps_its_whole_generations() {
    let mut trace = sound();
    trace.bytes.truncate(trace.bytes.len() - 20);
    let file = File::new(&trace);
    let (report, errors) = file.run(&["report"], 1);
    assert!(report.contains("Go 1.26, 1 generation"), "{report}");
    assert!(report.contains("\nBroken\n  offset "), "{report}");
    assert!(errors.starts_with("slabscope: app.12.trace: offset "), "{errors}");
    assert!(errors.contains("The report covers what was read before"), "{errors}");
    let (dumped, errors) = file.run(&["dump"], 1);
    assert_eq!(dumped.lines().filter(|line| line.contains(" Experimental ")).count(), 11);
    assert!(errors.contains("offset "), "{errors}");
}

#[test]
fn contradictions_are_listed_with_their_first_examples() {
    let mut trace = TraceBuilder::new();
    trace.begin(1_000).build(&[("writer", "slabscope 0.1.0")]);
    let free: TimedEvent = (id::HEAP_OBJECT_FREE, 1_000_000, &[6]);
    trace.events(7, 2_000, &[(id::SPAN_ALLOC, 0, &[0, 1, CLASS_48])]);
    trace.events(7, 3_000, &[free; 8]);
    trace.events(
        7,
        9_000_000,
        &[
            (id::SPAN_ALLOC, 0, &[4, 2, LARGE]),
            (id::HEAP_OBJECT_ALLOC, 0, &[4096, 0]),
            (id::HEAP_OBJECT_ALLOC, 0, &[4096, 0]),
            (id::SPAN_ALLOC, 0, &[9, 1, OTHER]),
            (id::HEAP_OBJECT_ALLOC, 0, &[9216, 0]),
            (id::SPAN_FREE, 0, &[4]),
        ],
    );
    trace.closing(EndReason::Stopped, [0; 9]).end();
    let file = File::new(&trace);
    let (verified, _) = file.run(&["verify"], 1);
    for line in [
        "  object freed that was never allocated: 8 times",
        "    +0.001 s  thread 7  HeapObjectFree id 6",
        "    and 3 more",
        "  object allocated in a slot in use: 1 time",
        "  object in a span that holds none: 1 time",
        "  span freed with live objects in it: 1 time",
    ] {
        assert!(verified.lines().any(|found| found == line), "no {line:?} in\n{verified}");
    }
    assert!(file.run(&["report"], 0).0.contains("\nContradictions"));
    let (json, _) = file.run(&["verify", "--json"], 1);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let mut names: Vec<_> = json.as_object().unwrap().keys().collect();
    names.sort();
    assert_eq!(
        names,
        ["completeness", "file", "verify", "version"],
        "as all commands' answers have it"
    );
    let account = &json["completeness"];
    assert_eq!((&account["state"], &account["end"]), (&"complete".into(), &"stopped".into()));
    assert_eq!((&account["lost_events"], &account["contradictions"]), (&0.into(), &11.into()));
    assert_eq!(json["verify"]["is_sound"], false);
    let first = &json["verify"]["findings"][0];
    assert_eq!(
        (&first["finding"], &first["kind"]),
        (&"fault".into(), &"free_without_alloc".into())
    );
    assert_eq!((&first["count"], &first["examples"][0]["thread"]), (&8.into(), &7.into()));
}

#[test]
fn many_threads_are_cut_to_the_largest() {
    let mut trace = TraceBuilder::new();
    trace.begin(1_000).build(&[("writer", "x")]).sites(&[(1, 40)]);
    trace.events(1, 2_000, &[(id::SPAN_ALLOC, 0, &[0, 1, CLASS_48])]);
    for thread in 0..40 {
        let object: &'static [u64] = Box::leak(Box::new([thread * 6, 1]));
        trace.events(100 + thread, 3_000, &[(id::HEAP_OBJECT_ALLOC, 0, object)]);
    }
    trace.closing(EndReason::Stopped, [0; 9]).end();
    let file = File::new(&trace);
    assert!(file.run(&["report"], 0).0.contains("  and 20 threads with fewer bytes; --all shows"));
    assert!(!file.run(&["report", "--all"], 0).0.contains("--all shows"));
}

#[test]
fn a_trace_without_events_of_the_heap_says_why() {
    let mut trace = TraceBuilder::new();
    trace.begin(1_000).end();
    let (report, _) = File::new(&trace).run(&["report"], 0);
    assert!(report.contains("GODEBUG=traceallocfree=1"), "{report}");
    let mut trace = TraceBuilder::new();
    trace.begin(1_000).build(&[("writer", "x")]).closing(EndReason::Stopped, [0; 9]).end();
    let (report, _) = File::new(&trace).run(&["report"], 0);
    assert!(report.contains("allocated nothing while it was traced"), "{report}");
}
