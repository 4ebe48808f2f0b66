//! Call stacks in side data: frames that name each other, modules, and what was found out later.

use slabscope_wire::alloc_free::frame;

use super::data_reader::Fields;
use crate::id::Time;

/// One level of a call stack, and through its parent the whole stack outside of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackFrame {
    /// Its number in this generation.
    pub id: u64,
    /// The frame that called it; 0 where there is none.
    pub parent: u64,
    /// How it was found; see [`slabscope_wire::alloc_free::frame`].
    pub flags: u64,
    /// Where its function goes on, or was interrupted.
    pub address: u64,
}

impl StackFrame {
    /// An address inside the instruction that the function is at: a call's return address may lie
    /// in the next line, or in the next function.
    pub fn lookup_address(&self) -> u64 {
        if self.flags & frame::EXACT == 0 { self.address.wrapping_sub(1) } else { self.address }
    }
}

/// A file the program was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleEntry {
    /// Its number in this generation.
    pub id: u64,
    /// Its first address.
    pub first: u64,
    /// The address behind its last.
    pub end: u64,
    /// What an address in the file and this make an address in the process, modulo 2^64.
    pub bias: u64,
    /// When it was loaded; `None` for before the trace.
    pub loaded: Option<Time>,
    /// When it was unloaded; `None` while it is there.
    pub unloaded: Option<Time>,
    /// What tells its build from others; maybe empty.
    pub build_id: Vec<u8>,
    /// Where its file was.
    pub path: String,
}

impl StackFrame {
    pub(super) fn read(f: &mut Fields<'_>) -> Option<StackFrame> {
        Some(StackFrame {
            id: f.number()?,
            parent: f.number()?,
            flags: f.number()?,
            address: f.number()?,
        })
    }
}

impl ModuleEntry {
    pub(super) fn read(f: &mut Fields<'_>) -> Option<ModuleEntry> {
        let time = |f: &mut Fields<'_>| f.time().map(|time| (time.0 != 0).then_some(time));
        Some(ModuleEntry {
            id: f.number()?,
            first: f.number()?,
            end: f.number()?,
            bias: f.number()?,
            loaded: time(f)?,
            unloaded: time(f)?,
            build_id: f.bytes()?.to_vec(),
            path: f.text()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_return_address_is_looked_up_before_it() {
        let frame = StackFrame { id: 1, parent: 0, flags: frame::BY_TABLE, address: 100 };
        assert_eq!(frame.lookup_address(), 99);
        assert_eq!(StackFrame { flags: frame::EXACT, ..frame }.lookup_address(), 100);
    }
}
