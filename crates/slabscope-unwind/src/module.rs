//! A file that the program is made of, or was.

use slabscope_os::maps::Mapping;

use crate::image::Image;

/// The longest build id, in bytes.
pub(crate) const BUILD_ID_MAX: usize = 32;

/// The longest path that is kept, in bytes.
const PATH_MAX: usize = 4096;

/// A note of the linker's that identifies a file; empty for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BuildId {
    bytes: [u8; BUILD_ID_MAX],
    len: u8,
}

impl BuildId {
    /// From at most [`BUILD_ID_MAX`] bytes; what is longer is cut.
    pub(crate) fn new(id: &[u8]) -> Self {
        let mut build_id = BuildId::default();
        for (to, from) in build_id.bytes.iter_mut().zip(id) {
            *to = *from;
            build_id.len += 1;
        }
        build_id
    }
}

/// A file that is loaded, or was.
#[derive(Clone, Copy, Debug)]
pub struct Module {
    /// Its number in this process, from 1.
    pub id: u32,
    /// Its first address.
    pub first: usize,
    /// The address after its last.
    pub end: usize,
    /// A link-time address and this make an address, modulo 2^64.
    pub bias: usize,
    /// When it was first seen, in nanoseconds of the monotonic clock.
    pub loaded_ns: u64,
    /// When it was first missed; 0 while it is there.
    pub unloaded_ns: u64,
    /// When any of this last changed.
    pub changed_ns: u64,
    start: usize,
    inode: u64,
    build_id: BuildId,
    path: [u8; PATH_MAX],
    path_len: usize,
}

impl Module {
    pub(crate) const EMPTY: Module = Module {
        id: 0,
        first: 0,
        end: 0,
        bias: 0,
        loaded_ns: 0,
        unloaded_ns: 0,
        changed_ns: 0,
        start: 0,
        inode: 0,
        build_id: BuildId { bytes: [0; BUILD_ID_MAX], len: 0 },
        path: [0; PATH_MAX],
        path_len: 0,
    };

    /// Becomes what was found in a mapping.
    pub(crate) fn fill(&mut self, id: u32, image: &Image, found: &Found<'_>, now_ns: u64) {
        (self.id, self.loaded_ns, self.unloaded_ns, self.changed_ns) = (id, now_ns, 0, now_ns);
        (self.first, self.end, self.bias) = (image.first, image.end, image.bias);
        (self.start, self.inode) = (found.start, found.inode);
        self.build_id = image.build_id();
        self.path_len = found.path.len().min(PATH_MAX);
        for (to, from) in self.path.iter_mut().zip(found.path) {
            *to = *from;
        }
    }

    /// Whether it is what a mapping begins, as far as the mapping tells.
    pub(crate) fn is(&self, mapping: &Mapping<'_>) -> bool {
        self.start == mapping.start && self.inode == mapping.inode && self.path() == mapping.path
    }

    /// Whether it is certainly the same file as another, at the same place.
    pub(crate) fn is_again(&self, image: &Image, found: &Found<'_>) -> bool {
        self.start == found.start
            && self.build_id != BuildId::default()
            && self.inode == found.inode
            && self.path() == found.path
            && (self.first, self.end, self.bias) == (image.first, image.end, image.bias)
            && self.build_id == image.build_id()
    }

    /// Its build id; empty if it has none.
    pub fn build_id(&self) -> &[u8] {
        self.build_id.bytes.get(..usize::from(self.build_id.len)).unwrap_or_default()
    }

    /// Where its file was, as the kernel says it.
    pub fn path(&self) -> &[u8] {
        self.path.get(..self.path_len).unwrap_or_default()
    }
}

/// The mapping of a file's first byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found<'a> {
    pub(crate) start: usize,
    pub(crate) inode: u64,
    pub(crate) path: &'a [u8],
}
