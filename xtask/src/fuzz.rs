//! `cargo xtask fuzz`: the fuzz targets, steered by coverage, on the stable compiler.
//!
//! What `cargo fuzz` would do by a nightly compiler: libFuzzer's counters are a pass of LLVM, and stable
//! Rust can be told to run it. The address sanitizer is missing, which code without `unsafe` does not miss.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::command;
use crate::workspace::{PLATFORM, Workspace};

/// Counters by edge and hints from comparisons, for the targets and all they are built on.
const FLAGS: [&str; 8] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cdebug-assertions",
    "-Coverflow-checks",
    // As cargo-fuzz has it: checksums let everything pass.
    "--cfg=fuzzing",
];

/// Memory that no input may need, in MiB.
const MEMORY_LIMIT: u32 = 2048;

/// Runs each target, or the one named, for `seconds`; without a `seed` it goes other ways each time.
pub(crate) fn run(
    workspace: &Workspace,
    seconds: u32,
    target: Option<&str>,
    seed: Option<u32>,
) -> Result<()> {
    let package = workspace.root().join("fuzz");
    let all = targets(&package)?;
    let chosen: Vec<&String> =
        all.iter().filter(|name| target.is_none_or(|target| target == *name)).collect();
    ensure!(!chosen.is_empty(), "no such target; there are: {}", all.join(", "));

    let built = workspace.target().join("fuzz");
    let mut build = workspace.cargo();
    // A platform is named, so that build scripts and macros are built without the flags.
    build.args(["build", "--quiet", "--release", "--locked", "--target", PLATFORM]);
    build.arg("--manifest-path").arg(package.join("Cargo.toml"));
    build.arg("--target-dir").arg(&built).env("RUSTFLAGS", FLAGS.join(" "));
    command::run(&mut build).context("libFuzzer needs a C++ compiler: install g++ or clang")?;

    let programs = built.join(PLATFORM).join("release");
    for name in chosen {
        let mut fuzz = Command::new(programs.join(name));
        fuzz.arg(format!("-max_total_time={seconds}"));
        fuzz.args(seed.map(|seed| format!("-seed={seed}")));
        one(fuzz, &package.join("corpus").join(name), &built, name)?;
    }
    println!("no finding in {seconds} s of each target");
    Ok(())
}

/// What it learns lies under the target directory; the corpus in the repository stays as it is.
fn one(mut fuzz: Command, corpus: &Path, built: &Path, name: &str) -> Result<()> {
    let (learned, findings) = (built.join("corpus").join(name), built.join("findings").join(name));
    fs::create_dir_all(&learned).and_then(|()| fs::create_dir_all(&findings))?;
    fuzz.arg(format!("-rss_limit_mb={MEMORY_LIMIT}"))
        .args(["-timeout=20", "-use_value_profile=1", "-print_final_stats=1", "-verbosity=0"])
        .arg(format!("-artifact_prefix={}/", findings.display()))
        .args([&learned, corpus]);
    if let Err(error) = command::run(&mut fuzz) {
        bail!("{name}: {error:#}\n  the input lies in {}", findings.display());
    }
    Ok(())
}

/// Their names, from the files they are in.
fn targets(package: &Path) -> Result<Vec<String>> {
    let directory = package.join("fuzz_targets");
    let files = fs::read_dir(&directory).with_context(|| directory.display().to_string())?;
    let paths = files.map(|file| Ok(file?.path())).collect::<Result<Vec<PathBuf>>>()?;
    let mut names: Vec<String> = paths
        .iter()
        .filter_map(|path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    Ok(names)
}
