//! The slabscope program: it reads a trace and says what it tells.
#![forbid(unsafe_code)]

mod args;
mod cut_off;
mod doubts;
mod dump;
mod events;
mod exit_code;
mod explain;
mod export;
mod failure;
mod flamegraph;
mod index;
mod json;
mod live;
mod manual;
mod open;
mod output;
mod progress;
mod recover;
mod report;
mod symbolize;
mod symbols;
mod text;
mod unpack;
mod verify;
mod window;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

/// It takes large kernel pages, and keeps them: a fifth of the time goes into small ones otherwise.
#[cfg(target_os = "linux")]
#[global_allocator]
static HEAP: slabscope::Slabscope = slabscope::Slabscope::new();

fn main() -> ExitCode {
    let outcome = match Args::parse().command {
        Command::Report(args) => report::run(&args),
        Command::Explain(command) => explain::run(&command),
        Command::Dump(args) => dump::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Symbolize(args) => symbolize::run(&args),
        Command::Recover(args) => recover::run(&args),
    };
    exit_code::of(outcome)
}
