//! What is mapped where, as `/proc/self/maps` tells it.
//!
//! The dynamic linker's own list cannot be read without its lock, which a thread may hold that waits
//! for us. The kernel's list needs none.

use core::ffi::CStr;

use crate::file::{Errno, Source};

/// One line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping<'a> {
    /// Its first address.
    pub start: usize,
    /// The address after its last.
    pub end: usize,
    /// Whether there is code in it.
    pub executable: bool,
    /// Where in the file it begins, in bytes.
    pub offset: u64,
    /// The file's inode; 0 for none.
    pub inode: u64,
    /// The file's path, or a name of the kernel's in brackets. A line feed in it is written `\012`.
    pub path: &'a [u8],
}

/// Hands each mapping to `visit`, from the lowest on. `buffer` should hold some lines; one that is
/// longer than it is left out.
///
/// # Errors
/// When the file cannot be read.
pub fn each(buffer: &mut [u8], mut visit: impl FnMut(&Mapping<'_>)) -> Result<(), Errno> {
    const PATH: &CStr = c"/proc/self/maps";
    let source = Source::open(PATH)?;
    let mut len = 0;
    let read = loop {
        let got = match source.read(buffer.get_mut(len..).unwrap_or_default()) {
            Ok(0) => break Ok(()),
            Ok(got) => got,
            Err(why) => break Err(why),
        };
        len += got;
        let text = buffer.get(..len).unwrap_or_default();
        let mut used = 0;
        while let Some(line) = next_line(text, used) {
            used += line.len() + 1;
            if let Some(mapping) = parse(line) {
                visit(&mapping);
            }
        }
        if used == 0 && len == buffer.len() {
            used = len;
        }
        buffer.copy_within(used..len, 0);
        len -= used;
    };
    source.close();
    read
}

fn next_line(text: &[u8], from: usize) -> Option<&[u8]> {
    let rest = text.get(from..)?;
    rest.get(..rest.iter().position(|&byte| byte == b'\n')?)
}

/// `7f0c1000-7f0c2000 r-xp 00001000 fe:01 1234   /lib/x.so`
fn parse(line: &[u8]) -> Option<Mapping<'_>> {
    let mut fields = line.splitn(6, |&byte| byte == b' ');
    let mut range = fields.next()?.splitn(2, |&byte| byte == b'-');
    let (start, end) = (number(range.next()?, 16)?, number(range.next()?, 16)?);
    let executable = fields.next()?.get(2) == Some(&b'x');
    let offset = number(fields.next()?, 16)?;
    let _device = fields.next()?;
    let inode = number(fields.next()?, 10)?;
    let path = fields.next().unwrap_or_default().trim_ascii_start();
    Some(Mapping {
        start: usize::try_from(start).ok()?,
        end: usize::try_from(end).ok()?,
        executable,
        offset,
        inode,
        path,
    })
}

fn number(text: &[u8], radix: u32) -> Option<u64> {
    u64::from_str_radix(str::from_utf8(text).ok()?, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    extern crate std;

    #[test]
    fn a_line_is_taken_apart() {
        let line = b"7f00-8a00 r-xp 00001000 fe:01 1234                       /a b/c (deleted)";
        let mapping = parse(line).unwrap();
        assert_eq!((mapping.start, mapping.end, mapping.executable), (0x7f00, 0x8a00, true));
        assert_eq!((mapping.offset, mapping.inode), (4096, 1234));
        assert_eq!(mapping.path, b"/a b/c (deleted)");
        let plain = parse(b"7f00-8a00 rw-p 00000000 00:00 0 ").unwrap();
        assert_eq!((plain.executable, plain.path), (false, &b""[..]));
        assert_eq!(parse(b"7f00 rw-p"), None);
    }

    #[test]
    fn this_program_is_among_them_whatever_the_buffer() {
        let here = this_program_is_among_them_whatever_the_buffer as *const () as usize;
        for len in [400, 4096, 1 << 16] {
            let mut found = 0;
            let mut last = 0;
            each(&mut std::vec![0; len], |mapping| {
                assert!(mapping.start >= last && mapping.end > mapping.start);
                last = mapping.end;
                let inside = (mapping.start..mapping.end).contains(&here);
                found += usize::from(inside && mapping.executable && !mapping.path.is_empty());
            })
            .unwrap();
            assert_eq!(found, 1);
        }
    }
}
