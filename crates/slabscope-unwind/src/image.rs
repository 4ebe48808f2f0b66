//! What a loaded ELF file says of itself, read from memory that may go away.

use slabscope_os::{KERNEL_PAGE, own_memory};

use crate::compile::{self, Sections};
use crate::memory::Scratch;
use crate::module::{BUILD_ID_MAX, BuildId};
use crate::table::Table;

const PROGRAM_HEADERS_MAX: usize = 64;
const PROGRAM_HEADER_LEN: usize = 56;
const PT_LOAD: u64 = 1;
const PT_NOTE: u64 = 4;
const PT_GNU_EH_FRAME: u64 = 0x6474_e550;
const NOTE_GNU_BUILD_ID: u64 = 3;

/// No section of unwind tables is longer, in bytes.
const SECTION_MAX: u64 = 1 << 30;

/// A loaded file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Image {
    /// Its first address, and the one after its last.
    pub(crate) first: usize,
    pub(crate) end: usize,
    /// A link-time address and this make an address.
    pub(crate) bias: usize,
    headers: [[u8; PROGRAM_HEADER_LEN]; PROGRAM_HEADERS_MAX],
    count: usize,
}

/// A part of the file that is loaded, or of one that is: addresses as linked.
#[derive(Clone, Copy, Debug)]
struct Segment {
    kind: u64,
    executable: bool,
    offset: u64,
    address: u64,
    len: u64,
}

impl Image {
    /// The file whose first byte is mapped at `start`; `None` if it is not one for this machine, or
    /// has no code.
    pub(crate) fn read(start: usize) -> Option<Image> {
        let mut header = [0; 64];
        if own_memory::read(start, &mut header).ok()? < header.len() {
            return None;
        }
        let is_ours = header.starts_with(b"\x7fELF\x02\x01") && number(&header, 54, 2)? == 56;
        let count = number(&header, 56, 2)? as usize;
        if !is_ours || count > PROGRAM_HEADERS_MAX {
            return None;
        }
        let mut image = Image {
            first: usize::MAX,
            end: 0,
            bias: 0,
            headers: [[0; PROGRAM_HEADER_LEN]; PROGRAM_HEADERS_MAX],
            count,
        };
        let at = start.checked_add(usize::try_from(number(&header, 32, 8)?).ok()?)?;
        let headers = image.headers.get_mut(..count)?.as_flattened_mut();
        if own_memory::read(at, headers).ok()? < headers.len() {
            return None;
        }
        image.place(start).then_some(image)
    }

    /// Finds out where it lies, by where the file's first byte is.
    fn place(&mut self, start: usize) -> bool {
        let loads = || self.segments().filter(|segment| segment.kind == PT_LOAD);
        let Some(head) = loads().find(|segment| segment.offset < KERNEL_PAGE as u64) else {
            return false;
        };
        let bias = (start as u64).wrapping_sub(head.address.wrapping_sub(head.offset));
        let ends = loads().map(|segment| {
            (segment.address.wrapping_add(bias), segment.address.wrapping_add(bias) + segment.len)
        });
        let (mut first, mut end) = (u64::MAX, 0);
        for (segment_first, segment_end) in ends {
            first = first.min(segment_first & !(KERNEL_PAGE as u64 - 1));
            end = end.max(segment_end.next_multiple_of(KERNEL_PAGE as u64));
        }
        let has_code = loads().any(|segment| segment.executable);
        (self.first, self.end, self.bias) = (first as usize, end as usize, bias as usize);
        has_code && first < end && end - first < u64::from(u32::MAX)
    }

    fn segments(&self) -> impl Iterator<Item = Segment> {
        self.headers.iter().take(self.count).filter_map(|header| {
            Some(Segment {
                kind: number(header, 0, 4)?,
                executable: number(header, 4, 4)? & 1 != 0,
                offset: number(header, 8, 8)?,
                address: number(header, 16, 8)?,
                len: number(header, 40, 8).filter(|&len| len < 1 << 47)?,
            })
        })
    }

    /// The note that identifies the file; empty if it has none.
    pub(crate) fn build_id(&self) -> BuildId {
        for note in self.segments().filter(|segment| segment.kind == PT_NOTE) {
            let mut bytes = [0; 1024];
            let at = (note.address as usize).wrapping_add(self.bias);
            let len = bytes.len().min(note.len as usize);
            let got = own_memory::read(at, bytes.get_mut(..len).unwrap_or_default()).unwrap_or(0);
            if let Some(id) = find_build_id(bytes.get(..got).unwrap_or_default()) {
                return id;
            }
        }
        BuildId::default()
    }

    /// Its rules. Empty when it has no unwind tables, or they go away while they are read; `None`
    /// without memory.
    pub(crate) fn table(&self) -> Option<Table> {
        let Some(index) = self.segments().find(|segment| segment.kind == PT_GNU_EH_FRAME) else {
            return Some(Table::EMPTY);
        };
        let bias = self.bias as u64;
        let index_at = index.address.wrapping_add(bias);
        let Some(index) = copy(index_at, index.len)? else { return Some(Table::EMPTY) };
        let frames_at = compile::frames_at(index.as_slice(), index_at);
        let frames = frames_at.and_then(|at| Some((at, self.segment_end(at)?.checked_sub(at)?)));
        let Some((frames_at, len)) = frames else { return Some(Table::EMPTY) };
        let Some(frames) = copy(frames_at, len)? else { return Some(Table::EMPTY) };
        let sections =
            Sections { index: index.as_slice(), index_at, frames: frames.as_slice(), frames_at };
        compile::compile(&sections, self.first as u64)
    }

    /// The end of the loaded segment that `address` is in.
    fn segment_end(&self, address: u64) -> Option<u64> {
        self.segments().filter(|segment| segment.kind == PT_LOAD).find_map(|segment| {
            let start = segment.address.wrapping_add(self.bias as u64);
            let end = start.checked_add(segment.len)?;
            (start..end).contains(&address).then_some(end)
        })
    }
}

/// A copy of memory; `Some(None)` when it is not all there, `None` without memory for it.
fn copy(at: u64, len: u64) -> Option<Option<Scratch>> {
    if len == 0 || len > SECTION_MAX {
        return Some(None);
    }
    let mut copy = Scratch::new(len as usize)?;
    let got = own_memory::read(at as usize, copy.as_mut_slice()).unwrap_or(0);
    Some((got == len as usize).then_some(copy))
}

/// The build id among these notes.
fn find_build_id(mut notes: &[u8]) -> Option<BuildId> {
    loop {
        let name_len = number(notes, 0, 4)? as usize;
        let id_len = number(notes, 4, 4)? as usize;
        let kind = number(notes, 8, 4)?;
        let id_at = 12_usize.checked_add(name_len)?.checked_next_multiple_of(4)?;
        let id = notes.get(id_at..id_at.checked_add(id_len)?)?;
        if kind == NOTE_GNU_BUILD_ID && notes.get(12..16) == Some(b"GNU\0") {
            return Some(BuildId::new(id.get(..id_len.min(BUILD_ID_MAX))?));
        }
        notes = notes.get(id_at.checked_add(id_len)?.checked_next_multiple_of(4)?..)?;
    }
}

/// A little-endian number of `len` bytes, eight at most.
fn number(bytes: &[u8], at: usize, len: usize) -> Option<u64> {
    let field = bytes.get(at..at.checked_add(len)?)?;
    Some(field.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}
