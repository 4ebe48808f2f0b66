//! What other programs are given: pictures, profiles, lines, manual pages, completions.

mod support;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flate2::read::GzDecoder;
use support::slabscope;
use tempfile::TempDir;

fn go_trace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../slabscope-trace/tests/data/go1.27-allocfree-small.trace")
}

fn export(form: &str, more: &[&str]) -> Vec<u8> {
    let mut command = slabscope(&["export", "--format", form]);
    command.args(more).arg(go_trace());
    command.assert().code(0).stderr("").get_output().stdout.clone()
}

fn report() -> serde_json::Value {
    let mut command = slabscope(&["report", "--json"]);
    let output = command.arg(go_trace()).assert().code(0).get_output().stdout.clone();
    serde_json::from_slice::<serde_json::Value>(&output).unwrap()["report"].clone()
}

#[test]
fn collapsed_stacks_weigh_what_the_report_says() {
    let objects = &report()["objects"];
    let expected = [
        ("bytes", &objects["allocated"]["bytes"]),
        ("count", &objects["allocated"]["objects"]),
        ("peak", &objects["peak"]["bytes"]),
        ("leaked", &objects["live"]["bytes"]),
    ];
    for (weight, expected) in expected {
        let text = String::from_utf8(export("collapsed", &["--weight", weight])).unwrap();
        let weights = text.lines().map(|line| {
            let (frames, weight) = line.rsplit_once(' ').unwrap();
            assert_eq!(frames.split(';').count(), 3, "{line}");
            weight.parse::<u64>().unwrap()
        });
        assert_eq!(weights.sum::<u64>(), expected.as_u64().unwrap(), "{weight}");
    }
}

#[test]
fn lines_of_json_are_all_allocations_and_frees() {
    let text = String::from_utf8(export("jsonl", &[])).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = |event: &str| lines.iter().filter(|line| line["event"] == event).count() as u64;
    let objects = &report()["objects"];
    let expected = |what: &str| objects[what]["objects"].as_u64().unwrap();
    assert_eq!(count("alloc"), expected("allocated"));
    assert_eq!(count("free"), expected("freed"));
    assert_eq!(count("exists"), expected("existed"));
    // Each site is told before anything of it.
    let mut told = vec![0];
    for line in &lines {
        let site = line["site"].as_u64().unwrap();
        if line["event"] == "site" {
            assert!(line["type"].is_string(), "{line}");
            told.push(site);
        }
        assert!(told.contains(&site), "{line}");
    }
    assert!(told.len() > 10);
    let part = String::from_utf8(export("jsonl", &["--from", "2ms", "--to", "3ms"])).unwrap();
    let times = part.lines().filter_map(|line| {
        serde_json::from_str::<serde_json::Value>(line).unwrap()["t_ns"].as_u64()
    });
    let times: Vec<u64> = times.collect();
    assert!(times.len() > 100 && times.iter().all(|time| (2_000_000..3_000_000).contains(time)));
}

#[test]
fn a_reader_that_has_enough_is_no_failure() {
    for form in ["collapsed", "firefox", "jsonl", "pprof"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_slabscope"))
            .args(["export", "--format", form])
            .arg(go_trace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{form}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{form}");
    }
}

#[test]
fn firefox_gets_allocations_and_memory_over_time() {
    let made: serde_json::Value = serde_json::from_slice(&export("firefox", &[])).unwrap();
    let objects = &report()["objects"];
    let samples = &made["threads"][0]["nativeAllocations"];
    let weights = samples["weight"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap());
    assert_eq!(weights.sum::<u64>(), objects["allocated"]["bytes"].as_u64().unwrap());
    let counter = &made["counters"][0];
    assert_eq!(counter["category"], "Memory");
    let changes = counter["samples"]["count"].as_array().unwrap();
    let last: f64 = changes.iter().map(|n| n.as_f64().unwrap()).sum();
    assert_eq!(last, objects["live"]["bytes"].as_f64().unwrap());
    assert!(made["meta"]["preprocessedProfileVersion"].is_number());
}

#[test]
fn pprof_is_compressed_and_names_the_types() {
    let mut bytes = Vec::new();
    GzDecoder::new(&export("pprof", &[])[..]).read_to_end(&mut bytes).unwrap();
    for name in ["alloc_space", "inuse_space", "peak_space", "main.Rec", "slot of 48 B"] {
        assert!(bytes.windows(name.len()).any(|part| part == name.as_bytes()), "{name}");
    }
}

/// The real consumer, where it is: `SLABSCOPE_GO` names Go's command.
#[test]
#[ignore = "needs Go: run by go-oracle --conformance, which says where it is"]
fn go_tool_pprof_opens_it() {
    let go = std::env::var_os("SLABSCOPE_GO").expect("SLABSCOPE_GO names Go's command");
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("app.pb.gz");
    fs::write(&path, export("pprof", &[])).unwrap();
    let total = |types: &str| {
        let index = format!("-sample_index={types}");
        let mut pprof = Command::new(&go);
        pprof.args(["tool", "pprof", "-top", "-unit=B", "-nodefraction=0", &index]).arg(&path);
        let output = pprof.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let total = text.split("Total samples = ").nth(1).and_then(|rest| rest.split('B').next());
        total.unwrap_or_else(|| panic!("{text}")).trim().parse::<u64>().unwrap()
    };
    let objects = &report()["objects"];
    assert_eq!(total("alloc_space"), objects["allocated"]["bytes"].as_u64().unwrap());
    assert_eq!(total("inuse_space"), objects["live"]["bytes"].as_u64().unwrap());
    assert_eq!(total("peak_space"), objects["peak"]["bytes"].as_u64().unwrap());
}

/// The Profiler's own code, where it is: `SLABSCOPE_NODE` and `SLABSCOPE_PROFILER_CLI` name Node.js and
/// its command line.
#[test]
#[ignore = "needs the Profiler's code: run by xtask ci, which installs it"]
fn firefox_profiler_opens_it() {
    let place = |name| std::env::var_os(name).unwrap_or_else(|| panic!("{name} names it"));
    let (node, program) = (place("SLABSCOPE_NODE"), place("SLABSCOPE_PROFILER_CLI"));
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("app.json");
    fs::write(&path, export("firefox", &[])).unwrap();
    let ask = |words: &[&str]| {
        let mut ask = Command::new(&node);
        // Its daemon is reached through a socket there.
        ask.arg(&program).args(words).env("HOME", directory.path());
        ask.output().unwrap()
    };
    // Loading waits half a second for its daemon, which a busy machine may exceed.
    ask(&["load", path.to_str().unwrap()]);
    let is_there = (0..1_000).any(|_| ask(&["status"]).status.success());
    assert!(is_there, "its daemon never came");
    let answer = |words: &[&str]| {
        let output = ask(words);
        let text = String::from_utf8_lossy(&output.stderr);
        let json = serde_json::from_slice::<serde_json::Value>(&output.stdout);
        json.unwrap_or_else(|error| panic!("{words:?}: {error}: {text}"))
    };
    let report = report();
    let functions = answer(&["thread", "functions", "--json"]);
    assert_eq!(functions["callTreeSummaryStrategy"], "native-allocations");
    let functions = functions["functions"].as_array().unwrap();
    let bytes = functions.iter().map(|function| function["selfSamples"].as_u64().unwrap());
    assert_eq!(bytes.sum::<u64>(), report["objects"]["allocated"]["bytes"].as_u64().unwrap());
    // All of the time is shown, and the memory with it.
    let range = answer(&["profile", "meta", "--json"])["context"]["rootRange"].clone();
    let duration = report["part"]["to"]["since_start_ns"].as_f64().unwrap() / 1e6;
    assert_eq!(range["start"], 0);
    assert!(range["end"].as_f64().unwrap() >= duration, "{range} of {duration}");
    let info = answer(&["profile", "info", "--json"]);
    let counter = &info["processes"][0]["counters"][0];
    assert!(counter.to_string().contains("Memory"), "{info}");
    ask(&["stop"]);
}

#[test]
fn collapsed_stacks_are_what_inferno_draws() {
    let lines = export("collapsed", &["--weight", "count"]);
    let mut options = inferno::flamegraph::Options::default();
    let mut picture = Vec::new();
    inferno::flamegraph::from_reader(&mut options, &lines[..], &mut picture).unwrap();
    let picture = String::from_utf8(picture).unwrap();
    let all = report()["objects"]["allocated"]["objects"].as_u64().unwrap();
    // The root's frame says how many samples there are.
    let shown: String = picture.split("<title>all (").nth(1).unwrap().chars().take(12).collect();
    let shown = shown.split(' ').next().unwrap().replace(',', "");
    assert_eq!(shown.parse::<u64>().unwrap(), all);
}

#[test]
fn a_flame_graph_is_a_picture_of_what_was_asked_for() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("a.svg");
    for (weight, title) in [("bytes", "bytes allocated"), ("peak", "bytes live at the peak")] {
        slabscope(&["flamegraph", "--weight", weight, "-o"])
            .arg(&path)
            .arg(go_trace())
            .assert()
            .code(0)
            .stdout("");
        let picture = fs::read_to_string(&path).unwrap();
        assert!(picture.starts_with("<?xml") && picture.trim_end().ends_with("</svg>"));
        for part in [title, "float64", "slot of 48 B"] {
            assert!(picture.contains(part), "{part}");
        }
    }
}

#[test]
fn the_tree_of_a_flame_graph_comes_as_json() {
    fn sum_of_leaves(tree: &serde_json::Value) -> u64 {
        let children = tree["children"].as_array().unwrap();
        let value = tree["value"].as_u64().unwrap();
        if children.is_empty() {
            return value;
        }
        let sum = children.iter().map(sum_of_leaves).sum();
        assert_eq!(value, sum, "{}", tree["name"]);
        sum
    }
    let mut command = slabscope(&["flamegraph", "--json", "--weight", "leaked"]);
    let output = command.arg(go_trace()).assert().code(0).get_output().clone();
    let made: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let live = &report()["objects"]["live"]["bytes"];
    assert_eq!(sum_of_leaves(&made["flamegraph"]), live.as_u64().unwrap());
}

#[test]
fn an_export_says_what_was_written() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("a.pb.gz");
    let mut command = slabscope(&["export", "--format", "pprof", "--json", "-o"]);
    let output = command.arg(&path).arg(go_trace()).assert().code(0).get_output().clone();
    let made: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(made["export"]["format"], "pprof");
    assert_eq!(made["export"]["bytes"], fs::metadata(&path).unwrap().len());
    slabscope(&["export", "--format", "pprof", "--json"]).arg(go_trace()).assert().code(2);
}

#[test]
fn what_cannot_be_written_is_told() {
    let directory = TempDir::new().unwrap();
    let nowhere = directory.path().join("no/such/file");
    for command in [&["flamegraph"][..], &["export", "--format", "pprof"]] {
        let mut command = slabscope(command);
        let output =
            command.arg(go_trace()).arg("-o").arg(&nowhere).assert().code(2).get_output().clone();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains("no/such/file") && message.contains("Name a file"), "{message}");
    }
    slabscope(&["export", "--format", "xml"]).arg(go_trace()).assert().code(2);
    let mut command =
        slabscope(&["flamegraph", "--weight", "leaked", "--from", "0s", "--to", "1us"]);
    let output = command.arg(go_trace()).assert().code(2).stdout("").get_output().clone();
    assert!(String::from_utf8(output.stderr).unwrap().contains("Choose another --weight"));
}

#[test]
fn every_command_has_a_manual_page_and_completions() {
    let directory = TempDir::new().unwrap();
    let pages = directory.path().join("man1");
    slabscope(&["man", "--dir"]).arg(&pages).assert().code(0).stdout("");
    let help = slabscope(&["--help"]).assert().code(0).get_output().stdout.clone();
    let help = String::from_utf8(help).unwrap();
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let commands = commands.lines().filter_map(|line| line.split_whitespace().next());
    let commands: Vec<_> = commands.filter(|&command| command != "help").collect();
    assert_eq!(fs::read_dir(&pages).unwrap().count(), commands.len() + 1);
    let script = slabscope(&["completions", "bash"]).assert().code(0).get_output().stdout.clone();
    let script = String::from_utf8(script).unwrap();
    for command in commands {
        let page = fs::read_to_string(pages.join(format!("slabscope-{command}.1"))).unwrap();
        assert!(page.contains(".TH") && page.contains("Example"), "{command}");
        assert!(script.contains(&format!("slabscope,{command})")), "{command}");
        slabscope(&[command, "--help"]).assert().code(0);
    }
    let program = slabscope(&["man"]).assert().code(0).get_output().stdout.clone();
    assert_eq!(program, fs::read(pages.join("slabscope.1")).unwrap());
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        let output = slabscope(&["completions", shell]).assert().code(0).get_output().clone();
        assert!(output.stdout.len() > 1000, "{shell}");
    }
}
