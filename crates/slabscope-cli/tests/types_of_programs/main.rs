//! How much of what real programs allocate has a type: 95 of 100 bytes and 90 of 100 allocations at least.
//!
//! The programs are this one: it runs one of its own tests with the trace on, in a process of its own. In a
//! release build it is as a user's; `cargo xtask types` runs it so.

mod json_program;
mod tokio_program;

use std::fs;
use std::path::Path;
use std::process::Command;

use slabscope_analysis::{Amount, Profile, ProfileOptions, profile};
use slabscope_trace::Open;
use tempfile::TempDir;

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn json() {
    json_program::run();
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn tokio() {
    tokio_program::run();
}

/// The trace of a program, read.
fn traced(program: &str) -> Profile {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("program.trace");
    let variable = format!("traceallocfree=1,stacks=32,out={}", path.display());
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", program, "--ignored", "--test-threads=1"]);
    let output = command.env("SLABSCOPE", variable).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    read(&path)
}

fn read(path: &Path) -> Profile {
    let bytes = fs::read(path).unwrap();
    profile(Open::bytes(&bytes).unwrap(), &ProfileOptions::default(), &mut |_| {}).unwrap()
}

/// Says how much has a type, and shows what has none.
fn check(program: &str) {
    let profile = traced(program);
    let coverage = profile.types().coverage;
    let share = |what: Amount| {
        let of = |part: u64, all: u64| 100.0 * part as f64 / all as f64;
        (of(what.bytes, coverage.all.bytes), of(what.objects, coverage.all.objects))
    };
    let (bytes, objects) = share(coverage.typed);
    let ((likely, _), (guessed, _)) = (share(coverage.likely), share(coverage.guessed));
    println!(
        "{program}: {bytes:.2} % of {} bytes and {objects:.2} % of {} objects have a type; \
         {likely:.2} % of bytes a likely one, {guessed:.2} % a guess",
        coverage.all.bytes, coverage.all.objects
    );
    for site in profile.sites().sites.iter().filter(|site| site.label.type_name.is_none()).take(5) {
        println!("  {} bytes in", site.figures.allocated.bytes);
        for frame in site.label.stack.iter().take(4) {
            println!("    {}", frame.function);
        }
    }
    assert!(bytes >= 95.0 && objects >= 90.0, "{program}: too little has a type");
}

#[test]
fn most_of_a_program_of_json_has_a_type() {
    check("json");
}

#[test]
fn most_of_a_program_of_tokio_has_a_type() {
    check("tokio");
}
