//! A processor: what each instruction that our functions are compiled to does to registers and memory.
//!
//! An instruction it does not know is a fault that names it, never a guess.

use iced_x86::{ConditionCode, Instruction, Mnemonic, OpKind, Register};

/// What it is connected to. Sizes are in bytes, up to 8.
pub(crate) trait Bus {
    fn load(&mut self, address: u64, size: u64) -> Result<u64, String>;
    fn store(&mut self, address: u64, size: u64, value: u64) -> Result<(), String>;
    /// Reads the clock, and which CPU this is.
    fn clock(&mut self) -> (u64, u32);
}

/// The registers of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Registers {
    pub(crate) ip: u64,
    /// In the order of the machine's numbers: rax, rcx, rdx, rbx, rsp, ...
    pub(crate) general: [u64; 16],
    vectors: [[u64; 2]; 16],
    flags: Flags,
    /// The thread pointer.
    pub(crate) fs: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Flags {
    zero: bool,
    carry: bool,
    sign: bool,
    overflow: bool,
}

pub(crate) const RAX: usize = 0;
pub(crate) const RCX: usize = 1;
pub(crate) const RDX: usize = 2;
pub(crate) const RSP: usize = 4;

fn mask(size: u64) -> u64 {
    if size >= 8 { u64::MAX } else { (1 << (8 * size)) - 1 }
}

fn sign_extend(value: u64, size: u64) -> u64 {
    let shift = 64 - 8 * size as u32;
    ((value << shift) as i64 >> shift) as u64
}

/// An instruction under way.
struct Step<'a, B> {
    registers: &'a mut Registers,
    instruction: &'a Instruction,
    bus: &'a mut B,
}

impl Registers {
    /// Does what `instruction` says, and goes on to the next.
    pub(crate) fn step(
        &mut self,
        instruction: &Instruction,
        bus: &mut impl Bus,
    ) -> Result<(), String> {
        self.ip = instruction.next_ip();
        Step { registers: self, instruction, bus }.execute()
    }

    /// Has a called function return to where `address` says.
    pub(crate) fn push(&mut self, value: u64, bus: &mut impl Bus) -> Result<(), String> {
        self.general[RSP] -= 8;
        bus.store(self.general[RSP], 8, value)
    }

    fn pop(&mut self, bus: &mut impl Bus) -> Result<u64, String> {
        let value = bus.load(self.general[RSP], 8)?;
        self.general[RSP] += 8;
        Ok(value)
    }

    /// Puts something else into a register and all flags.
    pub(crate) fn spoil(&mut self, register: usize, value: u64) {
        self.general[register] = value;
        self.flags = Flags::default();
    }

    fn holds(&self, condition: ConditionCode) -> bool {
        let Flags { zero, carry, sign, overflow } = self.flags;
        match condition {
            ConditionCode::e => zero,
            ConditionCode::ne => !zero,
            ConditionCode::b => carry,
            ConditionCode::ae => !carry,
            ConditionCode::be => carry || zero,
            ConditionCode::a => !carry && !zero,
            ConditionCode::s => sign,
            ConditionCode::ns => !sign,
            ConditionCode::l => sign != overflow,
            ConditionCode::ge => sign == overflow,
            ConditionCode::le => zero || sign != overflow,
            ConditionCode::g => !zero && sign == overflow,
            ConditionCode::o => overflow,
            ConditionCode::no => !overflow,
            // Nothing compares parities.
            _ => true,
        }
    }
}

impl<B: Bus> Step<'_, B> {
    fn unknown<T>(&self) -> Result<T, String> {
        let ip = self.instruction.ip();
        Err(format!("{ip:#x}: an instruction that the machine does not know: {}", self.instruction))
    }

    fn execute(mut self) -> Result<(), String> {
        use Mnemonic as M;
        let instruction = self.instruction;
        let condition = instruction.condition_code();
        match instruction.mnemonic() {
            M::Nop | M::Endbr64 => Ok(()),
            M::Mov | M::Movzx => {
                let value = self.read(1)?;
                self.write(0, value)
            }
            M::Movsxd | M::Movsx => {
                let value = sign_extend(self.read(1)?, self.size(1));
                self.write(0, value)
            }
            M::Lea => {
                let address = self.address();
                self.write(0, address)
            }
            M::Add | M::Sub | M::Cmp | M::And | M::Or | M::Xor | M::Test => self.arithmetic(),
            M::Inc | M::Dec => self.by_one(),
            M::Shl | M::Shr => self.shift(),
            M::Jmp => self.jump(),
            M::Call => {
                let next = self.registers.ip;
                self.registers.push(next, self.bus)?;
                self.jump()
            }
            M::Ret => {
                self.registers.ip = self.registers.pop(self.bus)?;
                Ok(())
            }
            M::Push => {
                let value = self.read(0)?;
                self.registers.push(value, self.bus)
            }
            M::Pop => {
                let value = self.registers.pop(self.bus)?;
                self.write(0, value)
            }
            M::Rdtscp => {
                let (ticks, cpu) = self.bus.clock();
                let general = &mut self.registers.general;
                general[RAX] = ticks & 0xffff_ffff;
                general[RDX] = ticks >> 32;
                general[RCX] = cpu.into();
                Ok(())
            }
            M::Movups | M::Movaps | M::Movdqu | M::Movdqa | M::Movupd | M::Movapd => {
                self.move_vector()
            }
            M::Xorps | M::Pxor => self.clear_vector(),
            _ if instruction.is_jcc_short_or_near() => {
                if self.registers.holds(condition) {
                    self.jump()
                } else {
                    Ok(())
                }
            }
            _ if condition != ConditionCode::None && instruction.op_count() == 1 => {
                let value = u64::from(self.registers.holds(condition));
                self.write(0, value)
            }
            _ if condition != ConditionCode::None && instruction.op_count() == 2 => {
                let from = usize::from(self.registers.holds(condition));
                let value = self.read(from as u32)?;
                self.write(0, value)
            }
            _ => self.unknown(),
        }
    }

    fn jump(&mut self) -> Result<(), String> {
        self.registers.ip = match self.instruction.op0_kind() {
            OpKind::NearBranch64 => self.instruction.near_branch_target(),
            _ => self.read(0)?,
        };
        Ok(())
    }

    fn arithmetic(&mut self) -> Result<(), String> {
        let (size, mnemonic) = (self.size(0), self.instruction.mnemonic());
        let (a, b) = (self.read(0)? & mask(size), self.read(1)? & mask(size));
        let (sign_a, sign_b) = (self.sign(a, size), self.sign(b, size));
        let result = mask(size)
            & match mnemonic {
                Mnemonic::Add => a.wrapping_add(b),
                Mnemonic::Sub | Mnemonic::Cmp => a.wrapping_sub(b),
                Mnemonic::And | Mnemonic::Test => a & b,
                Mnemonic::Or => a | b,
                _ => a ^ b,
            };
        let sign = self.sign(result, size);
        let (carry, overflow) = match mnemonic {
            Mnemonic::Add => (result < a, sign_a == sign_b && sign != sign_a),
            Mnemonic::Sub | Mnemonic::Cmp => (a < b, sign_a != sign_b && sign != sign_a),
            _ => (false, false),
        };
        self.registers.flags = Flags { zero: result == 0, carry, sign, overflow };
        match mnemonic {
            Mnemonic::Cmp | Mnemonic::Test => Ok(()),
            _ => self.write(0, result),
        }
    }

    /// Leaves the carry as it is.
    fn by_one(&mut self) -> Result<(), String> {
        let size = self.size(0);
        let one = if self.instruction.mnemonic() == Mnemonic::Inc { 1 } else { u64::MAX };
        let result = self.read(0)?.wrapping_add(one) & mask(size);
        let sign = self.sign(result, size);
        let carry = self.registers.flags.carry;
        self.registers.flags = Flags { zero: result == 0, carry, sign, overflow: false };
        self.write(0, result)
    }

    /// Leaves the flags alone: nothing that the compiler makes looks at them after a shift.
    fn shift(&mut self) -> Result<(), String> {
        let (value, by) = (self.read(0)?, self.read(1)? & 63);
        let result = match self.instruction.mnemonic() {
            Mnemonic::Shl => value << by,
            _ => (value & mask(self.size(0))) >> by,
        };
        self.write(0, result)
    }

    fn move_vector(&mut self) -> Result<(), String> {
        let value = match self.instruction.op1_kind() {
            OpKind::Register => self.registers.vectors[self.instruction.op1_register().number()],
            _ => {
                let address = self.address();
                [self.bus.load(address, 8)?, self.bus.load(address + 8, 8)?]
            }
        };
        if self.instruction.op0_kind() == OpKind::Register {
            self.registers.vectors[self.instruction.op0_register().number()] = value;
            return Ok(());
        }
        let address = self.address();
        self.bus.store(address, 8, value[0])?;
        self.bus.store(address + 8, 8, value[1])
    }

    /// Of a register with itself: it becomes zero.
    fn clear_vector(&mut self) -> Result<(), String> {
        let (to, from) = (self.instruction.op0_register(), self.instruction.op1_register());
        if to != from {
            return self.unknown();
        }
        self.registers.vectors[to.number()] = [0; 2];
        Ok(())
    }

    fn sign(&self, value: u64, size: u64) -> bool {
        value >> (8 * size - 1) & 1 == 1
    }

    fn size(&self, operand: u32) -> u64 {
        match self.instruction.op_kind(operand) {
            OpKind::Register => self.instruction.op_register(operand).size() as u64,
            OpKind::Memory => self.instruction.memory_size().size() as u64,
            _ => 8,
        }
    }

    fn address(&self) -> u64 {
        let instruction = self.instruction;
        let value = |register: Register| match register {
            Register::None => 0,
            register => self.registers.general[register.number()],
        };
        let base = match instruction.memory_base() {
            Register::RIP => 0,
            base => value(base),
        };
        let index = value(instruction.memory_index()) * u64::from(instruction.memory_index_scale());
        let segment = match instruction.memory_segment() {
            Register::FS => self.registers.fs,
            _ => 0,
        };
        let displacement = instruction.memory_displacement64();
        segment.wrapping_add(base).wrapping_add(index).wrapping_add(displacement)
    }

    fn read(&mut self, operand: u32) -> Result<u64, String> {
        match self.instruction.op_kind(operand) {
            OpKind::Register => {
                let register = self.instruction.op_register(operand);
                if is_high(register) || !register.is_gpr() {
                    return self.unknown();
                }
                Ok(self.registers.general[register.full_register().number()]
                    & mask(register.size() as u64))
            }
            OpKind::Memory => {
                let size = self.size(operand);
                let address = self.address();
                self.bus.load(address, size)
            }
            _ => match self.instruction.try_immediate(operand) {
                Ok(value) => Ok(value),
                Err(_) => self.unknown(),
            },
        }
    }

    fn write(&mut self, operand: u32, value: u64) -> Result<(), String> {
        if self.instruction.op_kind(operand) == OpKind::Memory {
            let (address, size) = (self.address(), self.size(operand));
            return self.bus.store(address, size, value & mask(size));
        }
        let register = self.instruction.op_register(operand);
        if is_high(register) || !register.is_gpr() {
            return self.unknown();
        }
        let place = &mut self.registers.general[register.full_register().number()];
        *place = match register.size() as u64 {
            // Four bytes clear the upper half, one or two leave the rest.
            size @ (4 | 8) => value & mask(size),
            size => *place & !mask(size) | value & mask(size),
        };
        Ok(())
    }
}

/// The second byte of a register.
fn is_high(register: Register) -> bool {
    matches!(register, Register::AH | Register::BH | Register::CH | Register::DH)
}
