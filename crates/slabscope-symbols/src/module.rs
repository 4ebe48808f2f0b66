//! Modules: files a program had mapped to run.

use std::fmt;
use std::path::PathBuf;

/// A program or a shared library, as the traced process had it in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// Its first address.
    pub first: u64,
    /// The address behind its last.
    pub end: u64,
    /// What an address in the file and this make an address in the process.
    pub bias: u64,
    /// What tells this build from any other; empty where it has none.
    pub build_id: BuildId,
    /// Where its file was.
    pub path: PathBuf,
}

impl Module {
    /// The address in the file for one in the process; `None` outside the module.
    pub fn file_address(&self, address: u64) -> Option<u64> {
        let is_inside = (self.first..self.end).contains(&address);
        is_inside.then(|| address.wrapping_sub(self.bias))
    }
}

/// What a linker wrote to tell one build of a file from any other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BuildId(pub Vec<u8>);

impl BuildId {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_outside_belong_to_no_file() {
        let module = Module { first: 0x5000, end: 0x6000, bias: 0x4000, ..Module::default() };
        assert_eq!(module.file_address(0x5010), Some(0x1010));
        assert_eq!((module.file_address(0x4fff), module.file_address(0x6000)), (None, None));
        assert_eq!(BuildId(vec![0, 0xab, 7]).to_string(), "00ab07");
    }
}
