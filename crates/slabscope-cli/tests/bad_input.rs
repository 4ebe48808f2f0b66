//! Every bad input has a message that names the file and says what to do, and exit code 2.

mod support;

use std::fs;
use std::path::Path;

use predicates::prelude::*;
use support::slabscope;
use tempfile::TempDir;

const COMMANDS: [&[&str]; 19] = [
    &["report"],
    &["report", "--json"],
    &["dump"],
    &["dump", "--wire"],
    &["verify"],
    &["verify", "--json"],
    &["peak"],
    &["peak", "--json"],
    &["leaks"],
    &["temporary"],
    &["sizes"],
    &["sites"],
    &["threads"],
    &["spans"],
    &["flamegraph"],
    &["export", "--format", "collapsed"],
    &["export", "--format", "firefox"],
    &["export", "--format", "jsonl"],
    &["export", "--format", "pprof"],
];

/// Each command refuses `path`, says `parts` on one line of standard error, and prints nothing.
fn refused(path: &Path, parts: &[&str]) {
    for command in COMMANDS {
        let output = slabscope(command).arg(path).assert().code(2).stdout("").get_output().clone();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(message.lines().count(), 1, "{message}");
        let start = format!("slabscope: {}: ", path.display());
        assert!(message.starts_with(&start) && message.ends_with(".\n"), "{message}");
        for part in parts {
            assert!(message.contains(part), "no {part:?} in {message}");
        }
    }
}

/// Each command refuses a file with these contents.
fn contents_refused(name: &str, contents: &[u8], parts: &[&str]) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join(name);
    fs::write(&path, contents).unwrap();
    refused(&path, parts);
}

#[test]
fn a_missing_file() {
    let directory = TempDir::new().unwrap();
    refused(&directory.path().join("no.trace"), &["no such file", "SLABSCOPE's 'out'"]);
}

#[test]
fn a_directory() {
    let directory = TempDir::new().unwrap();
    refused(directory.path(), &["directory", "Name a trace file"]);
}

#[test]
fn a_device() {
    refused(Path::new("/dev/zero"), &["neither a file nor a pipe"]);
}

#[test]
fn an_empty_file() {
    contents_refused("empty.trace", b"", &["empty", "trace it again"]);
}

#[test]
fn a_file_cut_off_in_the_header() {
    let header = b"go 1.26 trace\0\0\0";
    for len in 1..header.len() {
        contents_refused("short.trace", &header[..len], &["offset 0", "header", "again"]);
    }
}

#[test]
fn foreign_files() {
    let elf = fs::read("/proc/self/exe").unwrap();
    contents_refused("app", &elf, &["offset 0: not a Go", "is a program"]);
    contents_refused("a.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03abcdef", &["not a Go", "gzip -d"]);
    contents_refused("a.txt", b"dear diary, today I", &["not a Go", "Name a file"]);
    contents_refused("b.txt", b"hi", &["too short", "Name a file"]);
}

#[test]
fn traces_of_other_formats() {
    contents_refused("old.trace", b"go 1.21 trace\0\0\0rest", &["Go 1.21", "Go 1.23 or later"]);
    contents_refused("new.trace", b"go 1.42 trace\0\0\0rest", &["1.42", "newer slabscope"]);
}

#[test]
fn a_name_cannot_harm_the_terminal() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("a\u{1b}[2Jb.trace");
    let escaped = || {
        let raw = predicate::str::contains("\u{1b}");
        predicate::str::contains("a\\u{1b}[2Jb.trace").and(raw.not())
    };
    slabscope(&["report"]).arg(&path).assert().code(2).stderr(escaped());
    fs::write(&path, b"go 1.26 trace\0\0\0").unwrap();
    slabscope(&["report"]).arg(&path).assert().code(1).stdout(escaped()).stderr(escaped());
}

#[test]
fn wrong_usage() {
    for arguments in [&[][..], &["report"], &["explain", "x"], &["report", "--colour", "x"]] {
        slabscope(arguments)
            .assert()
            .code(2)
            .stdout("")
            .stderr(predicate::str::contains("Usage: slabscope"));
    }
    slabscope(&["report", "--json", "--all", "x"]).assert().code(2);
}

#[test]
fn help_documents_the_exit_codes_and_has_three_examples() {
    let output = slabscope(&["--help"]).assert().code(0).stderr("").get_output().clone();
    let help = String::from_utf8(output.stdout).unwrap();
    for part in ["Exit codes:", "  0  ", "  1  ", "  2  "] {
        assert!(help.contains(part), "{help}");
    }
    let examples = help.lines().filter(|line| line.starts_with("    slabscope ")).count();
    assert_eq!(examples, 3, "{help}");
    for command in ["report", "dump", "verify"] {
        slabscope(&[command, "--help"])
            .assert()
            .code(0)
            .stdout(predicate::str::contains("Example"));
    }
}
