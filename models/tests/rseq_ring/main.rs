//! A ring that is pushed to by restartable sequences, by the recorder's own machine code.
//!
//! The sections are assembly, so this program has them compiled in, reads itself, and executes its own
//! instructions in a machine of its making: two threads on up to three CPUs, of which one has no ring,
//! their signal handlers, a kernel that has sections begin anew as Linux does, and the drainer. All
//! schedules with a few interventions are run, an intervention at every instruction of a section.
//! Nothing may be lost, torn, doubled, late or out of order, and no instruction may read or write what
//! the protocol does not let it (`connection.rs`).
//!
//! What the machine leaves out: it executes in the program's order, which on x86-64 differs from what
//! others may see only in that stores may come later. Nothing here waits for an answer to a store.
#![cfg(target_arch = "x86_64")]

mod caller;
mod compiled;
mod connection;
mod consumer;
mod explore;
mod instances;
mod kernel;
mod layout;
mod mutants;
mod processor;
mod program;
mod settings;

use explore::{Explored, explore};
use kernel::Without;
use program::{Program, Section};
use settings::settings;

/// So that the sections are here as the allocator has them too.
#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

/// This program, and the sections that the machine runs: those of `push` and of `extend`.
fn load() -> (Program, [Section; 2]) {
    compiled::keep();
    let program = Program::this();
    let sections =
        [compiled::PUSH, compiled::EXTEND].map(|name| instances::called_by(&program, name));
    (program, sections)
}

/// Runs all settings.
fn explore_all(
    program: &Program,
    sections: &[Section],
    without: Without,
    interventions: u32,
) -> Result<Explored, String> {
    let mut sum = Explored::default();
    for setting in settings(without) {
        let explored = explore(program, sections, &setting, interventions)?;
        sum.schedules += explored.schedules;
        sum.instructions += explored.instructions;
    }
    Ok(sum)
}

#[test]
fn nothing_is_lost_torn_doubled_or_late() {
    let (program, sections) = load();
    let explored = explore_all(&program, &sections, Without::Nothing, 2).expect("no fault");
    println!("{} schedules, {} instructions", explored.schedules, explored.instructions);
    assert!(explored.schedules > 1000, "{explored:?}");
}

#[test]
fn each_part_of_the_protocol_is_missed_when_it_is_left_out() {
    let (program, sections) = load();
    for without in [Without::Restart, Without::Barrier, Without::ClockInside] {
        let fault = explore_all(&program, &sections, without, 2).expect_err("a fault");
        println!("without {without:?}: {fault}");
    }
}
