//! All copies of the sections that the compiler made, inlined into the allocator: each does what the one
//! that the machine runs does, with other registers.

use std::collections::HashMap;
use std::fmt::Write;

use iced_x86::{
    Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register, UsedRegister,
};

use crate::program::{Program, Section};

/// The section that a function, or one that it calls, announces.
pub(crate) fn called_by(program: &Program, function: &str) -> Section {
    let sections = program.sections().expect("sections that the kernel takes");
    let mut open = vec![program.symbol(function)];
    let mut seen = Vec::new();
    while let Some(mut ip) = open.pop() {
        while !seen.contains(&ip) {
            seen.push(ip);
            if let Some(section) = sections.iter().find(|section| section.announce == ip) {
                return *section;
            }
            let instruction = program.original(ip);
            match instruction.op0_kind() {
                OpKind::NearBranch64 => open.push(instruction.near_branch_target()),
                // Through a table of addresses.
                OpKind::Memory if instruction.mnemonic() == Mnemonic::Call => {
                    open.extend(program.load(instruction.ip_rel_memory_address(), 8));
                }
                _ if instruction.mnemonic() == Mnemonic::Ret => break,
                _ => {}
            }
            ip = instruction.next_ip();
        }
    }
    panic!("{function} has no section")
}

/// A section's instructions, registers by when they first appear, targets by their distance from its
/// start.
fn shape(program: &Program, section: &Section) -> String {
    let mut shape = Shape { section: *section, names: HashMap::new(), text: String::new() };
    let end = program.original(section.post_commit).next_ip();
    for instruction in program.listing(section.announce, end) {
        shape.add(&instruction);
    }
    shape.text
}

struct Shape {
    section: Section,
    names: HashMap<Register, usize>,
    text: String,
}

impl Shape {
    fn name(&mut self, register: Register) -> usize {
        let next = self.names.len();
        *self.names.entry(register.full_register()).or_insert(next)
    }

    fn add(&mut self, instruction: &Instruction) {
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{:?}", instruction.mnemonic());
        for operand in 0..instruction.op_count() {
            let part = self.operand(instruction, operand);
            let _ = write!(self.text, " {part}");
        }
        // What it uses without naming it.
        let mut factory = InstructionInfoFactory::new();
        let mut used: Vec<UsedRegister> = factory.info(instruction).used_registers().to_vec();
        used.retain(|used| used.register().is_gpr() && used.access() != OpAccess::None);
        if instruction.mnemonic() == Mnemonic::Rdtscp {
            for used in used {
                let name = self.name(used.register());
                let _ = write!(self.text, " r{name}");
            }
        }
        self.text.push('\n');
    }

    fn operand(&mut self, instruction: &Instruction, operand: u32) -> String {
        match instruction.op_kind(operand) {
            OpKind::Register => {
                let register = instruction.op_register(operand);
                format!("r{}:{}", self.name(register), register.size())
            }
            OpKind::Memory if instruction.is_ip_rel_memory_operand() => {
                let what = instruction.ip_rel_memory_address();
                (if what == self.section.descriptor { "descriptor" } else { "data" }).into()
            }
            OpKind::Memory => {
                let [base, index] =
                    [instruction.memory_base(), instruction.memory_index()].map(|r| {
                        if r == Register::None { "-".into() } else { self.name(r).to_string() }
                    });
                let scale = instruction.memory_index_scale();
                let (segment, size) = (instruction.segment_prefix(), instruction.memory_size());
                let displacement = instruction.memory_displacement64() as i64;
                format!("[{segment:?} {base} {index}*{scale} {displacement} {size:?}]")
            }
            OpKind::NearBranch64 => {
                let target = instruction.near_branch_target();
                let is_inside =
                    (self.section.announce..=self.section.post_commit).contains(&target);
                if is_inside {
                    format!("to {}", target - self.section.announce)
                } else {
                    "out".into()
                }
            }
            _ => format!("{:#x}", instruction.immediate(operand)),
        }
    }
}

#[test]
fn all_copies_of_a_section_are_alike() {
    let (program, known) = crate::load();
    let sections = program.sections().expect("sections that the kernel takes");
    let shapes = known.map(|section| shape(&program, &section));
    assert!(sections.len() > known.len(), "the allocator has its own");
    for section in &sections {
        let shape = shape(&program, section);
        assert!(shapes.contains(&shape), "{section:x?} is another section:\n{shape}");
    }
    println!("{} sections", sections.len());
}
