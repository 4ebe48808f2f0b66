//! All schedules with so many interventions at most, each at every instruction of a section.
//!
//! What lies between two sections is a thread's own: an intervention there comes to the same as one
//! before the first instruction of the next function. Schedules that come to the same state are
//! gone on with once. States are told apart by a hash of 64 bits.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use crate::compiled::{BEGIN, END, EXTEND, PUSH};
use crate::kernel::{INTERVENTIONS, Setting, World};
use crate::program::{Program, Section};

/// Instructions that a schedule takes at most; a section that goes round for ever takes more.
const STEPS_MAX: u32 = 20_000;

/// How many schedules there were: different ones, and instructions executed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Explored {
    pub(crate) schedules: u64,
    pub(crate) instructions: u64,
}

/// Runs all schedules of `setting` with up to `interventions`; the first fault, if there is one.
pub(crate) fn explore(
    program: &Program,
    sections: &[Section],
    setting: &Setting,
    interventions: u32,
) -> Result<Explored, String> {
    let functions = [PUSH, EXTEND, BEGIN, END].map(|name| program.symbol(name));
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let (mut seen, mut explored) = (HashSet::new(), Explored::default());
    let mut open = vec![(World::new(program, setting, sections)?, interventions)];
    while let Some((mut world, left)) = open.pop() {
        let mut steps = 0;
        loop {
            let ip = world.thread().registers.ip;
            let is_point = functions.contains(&ip) || world.section_around().is_some();
            if left > 0 && is_point {
                if !seen.insert(hasher.hash_one((&world.machine, left))) {
                    break;
                }
                for what in INTERVENTIONS.into_iter().filter(|&what| world.can(what)) {
                    let mut other = world.fork();
                    other.intervene(what)?;
                    open.push((other, left - 1));
                }
            }
            if !world.step()? {
                world.take(None)?;
                world.machine.consumer.check_end(&world.machine.threads)?;
                let shared: usize =
                    world.machine.threads.iter().map(|thread| thread.extended).sum();
                if left == interventions && shared != setting.shared {
                    return Err(format!("{shared} events share a reading, not {}", setting.shared));
                }
                explored.schedules += 1;
                break;
            }
            steps += 1;
            if steps > STEPS_MAX {
                return Err("it does not come to an end".into());
            }
        }
        explored.instructions += u64::from(steps);
    }
    Ok(explored)
}
