//! This very program, as the linker made it: its code, and the descriptors of its sections.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use iced_x86::{Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic, OpAccess};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, RelocationTarget};

/// What the kernel wants to find before an abort address: what the C library registered.
const SIGNATURE: u64 = 0x5305_3053;

/// Bytes of a descriptor: version, flags, start, length, abort address.
const DESCRIPTOR: u64 = 32;

/// The longest instruction.
const LONGEST: usize = 15;

/// A restartable section, by the places in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) descriptor: u64,
    /// Where it is announced: an abort leads there.
    pub(crate) announce: u64,
    pub(crate) start: u64,
    /// The instruction after the commit.
    pub(crate) post_commit: u64,
    pub(crate) abort: u64,
}

impl Section {
    pub(crate) fn contains(&self, ip: u64) -> bool {
        (self.start..self.post_commit).contains(&ip)
    }
}

/// The file: segments in memory, relocated as for address 0, and symbols.
struct Image {
    segments: Vec<(u64, Vec<u8>)>,
    symbols: HashMap<String, u64>,
    descriptors: Vec<u64>,
}

/// The program, and what a mutant has changed of it.
pub(crate) struct Program {
    image: Rc<Image>,
    /// Eight bytes of data each.
    edits: HashMap<u64, u64>,
    /// `None`: the instruction that stands there does nothing.
    patches: HashMap<u64, Option<Instruction>>,
    decoded: RefCell<HashMap<u64, Option<Instruction>>>,
    clobbers: RefCell<HashMap<u64, Rc<[usize]>>>,
}

impl Program {
    /// Reads it.
    pub(crate) fn this() -> Program {
        let path = std::env::current_exe().expect("this program has a file");
        let bytes = std::fs::read(path).expect("it can be read");
        let file = ElfFile64::<object::Endianness>::parse(&*bytes).expect("a program");
        let segments = file.segments().map(|segment| {
            (segment.address(), segment.data().expect("it lies in the file").to_vec())
        });
        let mut segments: Vec<_> = segments.collect();
        for (place, relocation) in file.dynamic_relocations().into_iter().flatten() {
            if relocation.target() == RelocationTarget::Absolute
                && let Some(bytes) = bytes_at(&mut segments, place, 8)
            {
                bytes.copy_from_slice(&relocation.addend().to_le_bytes());
            }
        }
        let symbols = file.symbols().filter_map(|symbol| {
            let name = symbol.name().ok()?;
            name.starts_with("slabscope_model_").then(|| (name.to_owned(), symbol.address()))
        });
        let section = file.section_by_name("__slabscope_rseq_cs").expect("there are sections");
        let descriptors =
            (0..section.size() / DESCRIPTOR).map(|n| section.address() + n * DESCRIPTOR);
        let image =
            Image { symbols: symbols.collect(), descriptors: descriptors.collect(), segments };
        Program::of(Rc::new(image))
    }

    fn of(image: Rc<Image>) -> Program {
        let (edits, patches) = (HashMap::new(), HashMap::new());
        let (decoded, clobbers) = (RefCell::default(), RefCell::default());
        Program { image, edits, patches, decoded, clobbers }
    }

    /// One to make a mutant of.
    pub(crate) fn copy(&self) -> Program {
        Program::of(Rc::clone(&self.image))
    }

    /// Changes eight bytes of data.
    pub(crate) fn edit(&mut self, address: u64, value: u64) {
        self.edits.insert(address, value);
    }

    /// Has the instruction at `ip` do nothing.
    pub(crate) fn skip(&mut self, ip: u64) {
        self.patches.insert(ip, None);
    }

    /// Has the two instructions from `ip` on change places.
    pub(crate) fn swap(&mut self, ip: u64) {
        let [mut first, mut second] =
            [self.original(ip), self.original(self.original(ip).next_ip())];
        second.set_ip(ip);
        first.set_ip(second.next_ip());
        self.patches.insert(first.ip(), Some(first));
        self.patches.insert(ip, Some(second));
    }

    /// Where a function of [`compiled`](crate::compiled) lies.
    pub(crate) fn symbol(&self, name: &str) -> u64 {
        *self.image.symbols.get(name).unwrap_or_else(|| panic!("there is no {name}"))
    }

    /// All sections; what the kernel would refuse is a fault.
    pub(crate) fn sections(&self) -> Result<Vec<Section>, String> {
        self.image.descriptors.iter().map(|&descriptor| self.section(descriptor)).collect()
    }

    /// The section that a thread has announced by this address.
    pub(crate) fn section(&self, descriptor: u64) -> Result<Section, String> {
        let word = |n: u64| self.load(descriptor + 8 * n, 8);
        let [kind, start, length, abort] = [word(0)?, word(1)?, word(2)?, word(3)?];
        if kind != 0 {
            return Err(format!("{descriptor:#x}: a version or flags that are not 0"));
        }
        if self.load(abort - 4, 4)? != SIGNATURE {
            return Err(format!("{abort:#x}: no signature before the abort address"));
        }
        let post_commit = start + length;
        if (start..post_commit).contains(&abort) {
            return Err(format!("{abort:#x}: the abort address lies in the section"));
        }
        let jump = self.original(abort);
        if jump.mnemonic() != Mnemonic::Jmp {
            return Err(format!("{abort:#x}: an abort does not lead back"));
        }
        let announce = jump.near_branch_target();
        Ok(Section { descriptor, announce, start, post_commit, abort })
    }

    /// Registers that the section writes, by the machine's numbers.
    pub(crate) fn clobbers(&self, section: &Section) -> Rc<[usize]> {
        let find = || {
            let mut factory = InstructionInfoFactory::new();
            let mut found = Vec::new();
            for instruction in self.listing(section.start, section.post_commit) {
                for used in factory.info(&instruction).used_registers() {
                    let register = used.register();
                    let writes = !matches!(used.access(), OpAccess::Read | OpAccess::CondRead);
                    if writes && register.is_gpr() {
                        found.push(register.full_register().number());
                    }
                }
            }
            found.sort_unstable();
            found.dedup();
            found.into()
        };
        Rc::clone(self.clobbers.borrow_mut().entry(section.start).or_insert_with(find))
    }

    /// The instructions from `start` to `end`, as compiled.
    pub(crate) fn listing(&self, start: u64, end: u64) -> Vec<Instruction> {
        let next = |last: &Instruction| Some(self.original(last.next_ip()));
        std::iter::successors(Some(self.original(start)), next)
            .take_while(|instruction| instruction.ip() < end)
            .collect()
    }

    /// Constant data, or code as data.
    pub(crate) fn load(&self, address: u64, size: u64) -> Result<u64, String> {
        if let Some(&value) = self.edits.get(&address) {
            return Ok(if size == 8 { value } else { value & ((1 << (8 * size)) - 1) });
        }
        let bytes = self.bytes(address).get(..size as usize).ok_or_else(|| nowhere(address))?;
        let mut value = [0; 8];
        value[..bytes.len()].copy_from_slice(bytes);
        Ok(u64::from_le_bytes(value))
    }

    fn bytes(&self, address: u64) -> &[u8] {
        let segments = self.image.segments.iter();
        let holds = |(first, bytes): &&(u64, Vec<u8>)| {
            address.checked_sub(*first).is_some_and(|at| at < bytes.len() as u64)
        };
        segments
            .filter(holds)
            .map(|(first, bytes)| &bytes[(address - first) as usize..])
            .next()
            .unwrap_or(&[])
    }

    /// The instruction at `ip`, as compiled.
    pub(crate) fn original(&self, ip: u64) -> Instruction {
        let bytes = self.bytes(ip);
        let bytes = &bytes[..bytes.len().min(LONGEST)];
        Decoder::with_ip(64, bytes, ip, DecoderOptions::NONE).decode()
    }

    /// The instruction at `ip`, or its length alone if it does nothing.
    pub(crate) fn instruction(&self, ip: u64) -> Result<Instruction, u64> {
        let decode = || match self.patches.get(&ip) {
            Some(patch) => *patch,
            None => Some(self.original(ip)),
        };
        let instruction = *self.decoded.borrow_mut().entry(ip).or_insert_with(decode);
        instruction.ok_or_else(|| self.original(ip).len() as u64)
    }
}

fn bytes_at(segments: &mut [(u64, Vec<u8>)], address: u64, length: u64) -> Option<&mut [u8]> {
    segments.iter_mut().find_map(|(first, bytes)| {
        let at = address.checked_sub(*first)?;
        bytes.get_mut(at as usize..(at + length) as usize)
    })
}

pub(crate) fn nowhere(address: u64) -> String {
    format!("{address:#x}: there is no such place")
}
