//! Sections that are wrong in one place each: the machine must see it.

use crate::explore_all;
use crate::kernel::Without;
use crate::program::{Program, Section};

/// Whether the machine finds a fault; it says which.
fn is_refused(what: &str, mutant: &Program, sections: &[Section]) -> bool {
    match explore_all(mutant, sections, Without::Nothing, 2) {
        Err(fault) => {
            println!("{what}: {fault}");
            true
        }
        Ok(_) => {
            println!("{what}: NOT REFUSED");
            false
        }
    }
}

#[test]
fn no_instruction_of_a_section_can_be_left_out() {
    let (program, sections) = crate::load();
    let mut refused = true;
    for section in sections {
        for instruction in program.listing(section.announce, section.post_commit) {
            let mut mutant = program.copy();
            mutant.skip(instruction.ip());
            refused &= is_refused(&format!("without {instruction}"), &mutant, &sections);
        }
    }
    assert!(refused, "the machine does not see it");
}

/// Where the fields of a descriptor lie.
const START: u64 = 8;
const LENGTH: u64 = 16;
const ABORT: u64 = 24;

#[test]
fn the_commit_is_the_last_and_everything_lies_inside() {
    let (program, sections) = crate::load();
    let mut refused = true;
    for section in sections {
        let Section { descriptor, start, post_commit, abort, .. } = section;
        let inside = program.listing(start, post_commit);
        let after_commit = program.original(post_commit).next_ip();
        let mut mutate = |what: &str, edits: &[(u64, u64)], swapped: Option<u64>| {
            let mut mutant = program.copy();
            for (place, value) in edits {
                mutant.edit(descriptor + place, *value);
            }
            swapped.into_iter().for_each(|ip| mutant.swap(ip));
            // The machine goes by what the descriptors say, if the kernel would take them.
            refused &= match mutant.section(descriptor) {
                Ok(changed) => {
                    let all = sections.map(|other| if other == section { changed } else { other });
                    is_refused(what, &mutant, &all)
                }
                Err(fault) => {
                    println!("{what}: {fault}");
                    true
                }
            };
        };
        let [.., before_commit, commit] = &*inside else { panic!("a section of one instruction") };
        mutate("the commit one earlier", &[], Some(before_commit.ip()));
        mutate("the commit outside", &[(LENGTH, commit.ip() - start)], None);
        mutate("one more after the commit", &[(LENGTH, after_commit - start)], None);
        mutate("no signature", &[(ABORT, abort + 1)], None);
        mutate("an abort into the section", &[(ABORT, start)], None);
        mutate("flags", &[(0, 1 << 32)], None);
        for instruction in &inside[..inside.len() - 1] {
            let rest = post_commit - instruction.next_ip();
            let edits = [(START, instruction.next_ip()), (LENGTH, rest)];
            mutate(&format!("{instruction} outside"), &edits, None);
        }
    }
    assert!(refused, "the machine does not see it");
}
